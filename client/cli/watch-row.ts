import { describeActivity, describeDoing, type LiveState, toSeconds } from "../../core/activity-text.ts";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import type { SessionView } from "../../core/messages.ts";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import type { Turn } from "../../core/session.ts";
import type { Usage } from "../../core/status.ts";
import { toOneLine } from "../../core/text.ts";
import { toTokens } from "./summary.ts";

/** Characters of a tool's target beside what an agent is doing. */
const MAX_TARGET_CHARACTERS = 200;

/** One agent as `watch` shows it. */
export interface WatchRow {
  /** `main` or the delegation's id. */
  id: string;
  agent: string;
  /** What it is for. */
  description: string;
  /** A delegation's or turn's status; `idle` for a main agent that waits for a message. */
  status: string;
  /** What it is doing, in words. */
  activity: string;
  /** The same without its clock. */
  doing: string;
  /** What counts as a change. */
  state: string;
  elapsedSeconds: number | undefined;
  sinceEventSeconds: number | undefined;
  turns: number;
  toolCalls: number;
  tokens: number;
  cost: number;
  /** The end of what it is saying, or said last. */
  saying: string;
}

/** A session's agents at one moment. */
export interface Watched {
  /** Whether the session takes further messages. */
  isOpen: boolean;
  view: SessionView | undefined;
  live: ReadonlyMap<string, LiveState>;
  nowMs: number;
}

/** The main agent first, then the running delegates, then the others, the latest to settle first. */
export function toWatchRows(watched: Watched): WatchRow[] {
  const { view } = watched;
  if (view === undefined) return [toMainRow(undefined, watched)];
  const running = view.delegations.filter(({ status }) => status === "running");
  const settled = view.delegations
    .filter(({ status }) => status !== "running")
    .toSorted((one, other) => (other.settledAtMs ?? 0) - (one.settledAtMs ?? 0));
  return [
    toMainRow(view.turns.at(-1), watched),
    ...[...running, ...settled].map((delegation) => toDelegateRow(delegation, watched)),
  ];
}

function toMainRow(turn: Turn | undefined, watched: Watched): WatchRow {
  const head = { id: "main", agent: "main agent", description: turn?.prompt ?? "" };
  const isRunning = turn === undefined ? watched.view === undefined : turn.status === "running";
  if (!isRunning) {
    const ended = turn === undefined ? "" : `; turn ${turn.number} ${turn.status}`;
    const activity = watched.isOpen ? `waits for a message${ended}` : `its session is over${ended}`;
    return { ...head, ...toCounts(turn), status: "idle", ...same(activity), ...noClock };
  }
  const isEnding = turn !== undefined && turn.turns > 0 && watched.live.get("main")?.kind === "queued";
  const doing = isEnding ? same("ends its delegates") : toDoing("main", watched);
  return {
    ...head,
    status: "running",
    ...doing,
    elapsedSeconds: turn === undefined ? undefined : Math.max(0, watched.nowMs - turn.startedAtMs) / 1000,
    ...toLiveCounts("main", watched, turn),
  };
}

function toDelegateRow(delegation: Delegation, watched: Watched): WatchRow {
  const { id, agent, description, status, error } = delegation;
  const head = { id, agent, description, elapsedSeconds: toElapsedSeconds(delegation, watched.nowMs) };
  if (status !== "running") {
    const activity = error === undefined ? status : `${status} (${error.code})`;
    const saying = delegation.report;
    return {
      ...head,
      ...toCounts(delegation),
      ...same(activity),
      status,
      sinceEventSeconds: undefined,
      saying,
    };
  }
  const doing =
    delegation.stopRequested === undefined ? toDoing(id, watched) : same("stop requested, not yet confirmed");
  return { ...head, status, ...doing, ...toLiveCounts(id, watched, delegation) };
}

const noClock = { elapsedSeconds: undefined, sinceEventSeconds: undefined, saying: "" };

type Doing = Pick<WatchRow, "activity" | "doing" | "state">;

function same(activity: string): Doing {
  return { activity, doing: activity, state: activity };
}

function toDoing(id: string, { view, live, nowMs }: Watched): Doing {
  const state = live.get(id);
  // The session knows of a question at once, the run's own word of it may be seconds old; a lost worker counts for more.
  const question = view?.questions.find((each) => each.chain === id && each.state === "open");
  if (question !== undefined && (state === undefined || state.kind === "running"))
    return same(toQuestionActivity(question));
  const doing = describeDoing(state);
  const since = toDetails(state)?.tool?.sinceMs ?? "";
  return { activity: describeActivity(state, nowMs), doing, state: `${doing} ${since}` };
}

function toQuestionActivity({ id, tool, target }: PermissionQuestionRecord): string {
  return `asks permission (${id}): ${tool} ${toOneLine(target, MAX_TARGET_CHARACTERS)}`;
}

function toDetails(state: LiveState | undefined): AgentRunDetails | undefined {
  return state !== undefined && "details" in state ? state.details : undefined;
}

type Counted = { turns: number; toolCalls: number; usage: Usage };

function toCounts(counted: Counted | undefined) {
  return {
    turns: counted?.turns ?? 0,
    toolCalls: counted?.toolCalls ?? 0,
    tokens: counted === undefined ? 0 : toTokens(counted.usage),
    cost: counted?.usage.cost ?? 0,
  };
}

/** What a run tells of itself is ahead of its session's record. */
function toLiveCounts(id: string, { live, nowMs }: Watched, record: Counted | undefined) {
  const details = toDetails(live.get(id));
  return {
    ...toCounts(details ?? record),
    sinceEventSeconds: details === undefined ? undefined : toSeconds(nowMs - details.lastEventAtMs),
    saying: details?.partialReport ?? "",
  };
}
