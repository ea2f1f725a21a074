import { toCountText } from "../../core/text.ts";
import type { AnswerDetail, AttemptDetail, CallDetail, ChainDetail } from "../story/chain-detail.ts";
import type { TimelineEvent } from "../story/timeline.ts";
import { type ChainReading, toLaterAttempt } from "./chain-reading.ts";
import { toStepText } from "./durations.ts";
import { describeHappening, type TimelineLine, toShort } from "./timeline-text.ts";

/** What a run did, in the order of time: its attempts, the model's answers, its calls, and what happened to it from outside. */
export function toChainLines(
  id: string,
  detail: ChainDetail | undefined,
  events: readonly TimelineEvent[],
  isRunning: boolean,
): TimelineLine[] {
  const known = new Set(detail?.attempts.flatMap((each) => toLaterAttempt(id, each)).map(toAttemptNumber));
  const outside = events
    // What the transcript tells of an attempt says more than the delegate's workflow does.
    .filter((event) => event.kind !== "attempt" || !known.has(event.attempt))
    .map((event) => ({ atMs: event.atMs, text: describeHappening(event) }));
  if (detail === undefined) return outside;
  const attempts = detail.attempts.flatMap((attempt) => toAttemptLines(id, attempt));
  const inside = [
    ...detail.answers.flatMap((answer) => [...toRetryLines(answer), ...toAnswerLine(answer)]),
    ...detail.calls.flatMap((call) =>
      call.startedAtMs === undefined ? [] : [{ atMs: call.startedAtMs, text: describeCall(call, isRunning) }],
    ),
  ];
  return [...outside, ...attempts, ...inside].toSorted((one, other) => one.atMs - other.atMs);
}

function toAttemptNumber(event: TimelineEvent): number {
  return event.kind === "attempt" ? event.attempt : 0;
}

function toAttemptLines(id: string, attempt: AttemptDetail): TimelineLine[] {
  const on = attempt.worker === undefined ? "" : ` on worker ${attempt.worker}`;
  const later = toLaterAttempt(id, attempt).map(describeHappening);
  const text = later[0] ?? `${attempt.runId} begins${on}`;
  return attempt.atMs === undefined
    ? []
    : [{ atMs: attempt.atMs, text: later.length > 0 ? `${text}${on && `; now${on}`}` : text }];
}

function toRetryLines({ retries }: AnswerDetail): TimelineLine[] {
  return retries.map(({ atMs, waitMs, nextTry, code }) => ({
    atMs,
    text: `the provider failed${code === undefined ? "" : ` (${code})`}; try ${nextTry} after ${toStepText(waitMs)}`,
  }));
}

function toAnswerLine({ atMs, waitedMs, calls, text, stopReason }: AnswerDetail): TimelineLine[] {
  if (atMs === undefined) return [];
  const after = waitedMs === undefined ? "" : ` after ${toStepText(waitedMs)}`;
  const asks = calls === 0 ? "" : `, ${toCountText(calls, "call")}`;
  const odd = stopReason === "stop" || stopReason === "toolUse" ? "" : `, ended by ${stopReason}`;
  const words = text.trim() === "" ? "" : `: ${toShort(text)}`;
  return [{ atMs, text: `the model answered${after}${asks}${odd}${words}` }];
}

/** A call in one line: what, on what, how it ended, how long it took. */
export function describeCall(call: CallDetail, isRunning: boolean): string {
  const took = call.durationMs === undefined ? "" : `, ${toStepText(call.durationMs)}`;
  const outcome = call.outcome === "running" && !isRunning ? "no result" : call.outcome;
  return `${`${call.tool} ${toShort(call.target)}`.trim()} · ${outcome}${took}`;
}

/** Calls by tool: how often, how long in all, and how many did not go well. */
export function toToolSummary(calls: readonly CallDetail[]): string {
  const tools = [...new Set(calls.map(({ tool }) => tool))];
  return tools
    .map((tool) => {
      const own = calls.filter((call) => call.tool === tool);
      const totalMs = own.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
      const odd = (["error", "denied", "interrupted", "running"] as const).flatMap((outcome) => {
        const count = own.filter((call) => call.outcome === outcome).length;
        return count === 0 ? [] : [`${count} ${outcome}`];
      });
      return `${tool} ${own.length} (${[toStepText(totalMs), ...odd].join(", ")})`;
    })
    .join(" · ");
}

/** What a program reads of a run: its calls, the answers of its model, and its attempts, whose number alone is `attempts`. */
export function toCallsJson({ calls, answers, attempts, damagedLines }: ChainDetail) {
  return {
    calls,
    answers,
    attemptList: attempts,
    ...(damagedLines.length === 0 ? {} : { damagedLines }),
  };
}

/** What is missing of a run's transcript, and where it may be. */
export function toTranscriptRemarks({ detail, problem }: ChainReading, worker: string | undefined): string[] {
  if (problem !== undefined) return [`Its transcript can't be read: ${problem}`];
  if (detail === undefined) {
    const where = worker === undefined ? "" : ` (its worker: ${worker})`;
    return [
      `Its transcript is not in this host's state folder${where}: what it said and its calls can't be told here.`,
    ];
  }
  if (detail.damagedLines.length === 0) return [];
  return [
    `Damaged in its transcript: ${toCountText(detail.damagedLines.length, "line")}, the first is ${detail.damagedLines[0]}.`,
  ];
}
