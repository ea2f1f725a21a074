import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import type { Turn } from "../../core/session.ts";
import type { RunError } from "../../core/status.ts";
import type { Untimed } from "../../core/timestamp.ts";
import type { Remark } from "./remark.ts";
import type { SessionStory } from "./session-story.ts";

/** One thing that happened in a session; `id` is `main` or a delegation's. */
export type TimelineEvent = { atMs: number } & (
  | { kind: "began" }
  | { kind: "message"; turn: number; prompt: string }
  | { kind: "turn-ended"; turn: number; status: string; error?: RunError; elapsedSeconds: number }
  | { kind: "delegated"; id: string; agent: string; description: string; resumedFrom?: string }
  | {
      kind: "delegate-ended";
      id: string;
      agent: string;
      status: string;
      error?: RunError;
      elapsedSeconds: number;
      attempts: number;
    }
  | { kind: "asked"; question: string; id: string; agent: string; tool: string; target: string }
  | { kind: "answered"; question: string; id: string; state: string; by?: string; answer?: string }
  | { kind: "ended"; how: string; reason: string; by: string }
  | Untimed<Remark>
);

/** What a timeline is made of. */
interface Told extends Pick<SessionStory, "startedAtMs" | "end" | "remarks"> {
  view: Pick<SessionStory["view"], "turns" | "delegations" | "questions">;
}

/** What happened in a session, in the order of time. */
export function toTimeline({ view, startedAtMs, end, remarks }: Told): TimelineEvent[] {
  const events: TimelineEvent[] = [
    { atMs: startedAtMs, kind: "began" },
    ...view.turns.flatMap(toTurnEvents),
    ...view.delegations.flatMap(toDelegationEvents),
    ...view.questions.flatMap(toQuestionEvents),
    ...remarks,
    ...(end === undefined
      ? []
      : [{ atMs: end.atMs, kind: "ended" as const, how: end.how, reason: end.reason, by: end.by }]),
  ];
  // Of things that carry one time, what was put first above came first.
  return events.toSorted((one, other) => one.atMs - other.atMs);
}

function toTurnEvents({
  number: turn,
  prompt,
  startedAtMs,
  endedAtMs,
  status,
  error,
}: Turn): TimelineEvent[] {
  const message: TimelineEvent = { atMs: startedAtMs, kind: "message", turn, prompt };
  if (endedAtMs === undefined) return [message];
  const elapsedSeconds = Math.max(0, endedAtMs - startedAtMs) / 1000;
  return [
    message,
    {
      atMs: endedAtMs,
      kind: "turn-ended",
      turn,
      status,
      elapsedSeconds,
      ...(error === undefined ? {} : { error }),
    },
  ];
}

function toDelegationEvents(record: Delegation): TimelineEvent[] {
  const { id, agent, description, resumedFrom, settledAtMs, status, error, attempts } = record;
  const begin: TimelineEvent = {
    atMs: record.startedAtMs,
    kind: "delegated",
    id,
    agent,
    description,
    ...(resumedFrom === undefined ? {} : { resumedFrom }),
  };
  if (settledAtMs === undefined) return [begin];
  return [
    begin,
    {
      atMs: settledAtMs,
      kind: "delegate-ended",
      id,
      agent,
      status,
      ...(error === undefined ? {} : { error }),
      elapsedSeconds: toElapsedSeconds(record, settledAtMs),
      attempts,
    },
  ];
}

function toQuestionEvents(record: PermissionQuestionRecord): TimelineEvent[] {
  const { id: question, chain: id, agent, tool, target, askedAtMs, answeredAtMs, state, by, answer } = record;
  const asked: TimelineEvent = { atMs: askedAtMs, kind: "asked", question, id, agent, tool, target };
  if (answeredAtMs === undefined) return [asked];
  return [
    asked,
    {
      atMs: answeredAtMs,
      kind: "answered",
      question,
      id,
      state,
      ...(by === undefined ? {} : { by }),
      ...(answer === undefined ? {} : { answer }),
    },
  ];
}
