import { toPlainCommand } from "../../client/cli/own-command.ts";
import type { WatchPicture } from "../../client/cli/watch-lines.ts";
import { toWatchRows, type Watched } from "../../client/cli/watch-row.ts";
import type { LiveState } from "../../core/activity-text.ts";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import { createDelegation, type Delegation } from "../../core/delegation.ts";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { toDetails, usage } from "./run-details.ts";

/** A session's agents as `watch` is shown them. */

export function toDelegation(number: number, change: Partial<Delegation> = {}): Delegation {
  const start = { number, agent: "fixer", description: `part ${number}`, model: "m", tools: [], nowMs: 1000 };
  const record = { ...start, callKey: undefined, resumedFrom: undefined, definitionFingerprint: "" };
  return { ...createDelegation(record), ...change };
}

export const running = (change: Partial<AgentRunDetails> = {}): LiveState => ({
  kind: "running",
  attempt: 1,
  details: toDetails(change),
});

export function toWatched(
  delegations: Delegation[],
  live: ReadonlyMap<string, LiveState> = new Map(),
  questions: Partial<PermissionQuestionRecord>[] = [],
): Watched {
  const turn = {
    number: 1,
    prompt: "go",
    status: "running" as const,
    startedAtMs: 1000,
    answer: "",
    turns: 0,
  };
  const view = {
    turns: [{ ...turn, toolCalls: 0, usage, attempts: 1 }],
    delegations,
    questions,
    permissionMode: "ask",
  } as unknown as NonNullable<Watched["view"]>;
  return { isOpen: true, view, live, nowMs: 61_000 };
}

export function toPicture(watched: Watched, head = "session-1 · open"): WatchPicture {
  const questions = watched.view?.questions ?? [];
  return {
    sessionId: "session-1",
    status: "open",
    head,
    notice: undefined,
    rows: toWatchRows(watched),
    toCommand: toPlainCommand,
    questions,
  };
}
