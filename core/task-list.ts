import { describeActivity, type LiveState, toSeconds } from "./activity-text.ts";
import { type Delegation, toElapsedSeconds } from "./delegation.ts";
import { MAX_TASK_WAIT_CHARACTERS } from "./limits.ts";
import type { SessionView, StopOutcome, TaskStarted } from "./messages.ts";
import { bound, cutAt, toCountText, toOneLine } from "./text.ts";

/** Write TaskList's answer for the model: the cap, then one line a delegation, the running ones first. */
export function toTaskListText(view: SessionView, live: ReadonlyMap<string, LiveState>): string {
  const running = view.delegations.filter((delegation) => delegation.status === "running");
  const settled = view.delegations.filter((delegation) => delegation.status !== "running").toReversed();
  const lines = [...running, ...settled].map((delegation) =>
    toLine(delegation, live.get(delegation.id), view.nowMs),
  );
  const head = `${running.length}/${view.runningCap} running, ${settled.length} settled.`;
  return bound(
    [head, ...lines].join("\n"),
    MAX_TASK_WAIT_CHARACTERS,
    (leftOut) => `\n[${leftOut} characters left out]`,
  );
}

function toLine(delegation: Delegation, live: LiveState | undefined, nowMs: number): string {
  const title = `${delegation.id} · ${delegation.agent} · ${toOneLine(delegation.description, 100)}`;
  const elapsed = `${Math.round(toElapsedSeconds(delegation, nowMs))}s`;
  if (delegation.status !== "running") {
    const code = delegation.error === undefined ? "" : ` (${delegation.error.code})`;
    return `${title} · ${delegation.status}${code} · ${elapsed} · ${toCounts(delegation)}${delegation.isHandedOver ? "" : " · report not read yet"}`;
  }
  const details = live !== undefined && "details" in live ? live.details : undefined;
  const counts =
    details === undefined
      ? ""
      : ` · ${toCounts(details)} · last event ${toSeconds(nowMs - details.lastEventAtMs)}s ago`;
  const state =
    delegation.stopRequested === undefined
      ? describeActivity(live, nowMs)
      : "stop requested, not yet confirmed";
  return `${title} · running · ${elapsed} · ${state}${counts}`;
}

function toCounts(counts: Pick<Delegation, "turns" | "toolCalls" | "usage">): string {
  const { usage } = counts;
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return `${toCountText(counts.turns, "turn")}, ${toCountText(counts.toolCalls, "tool call")}, ${toCountText(tokens, "token")}, $${usage.cost.toFixed(4)}`;
}

/** Write Task's answer for the model. */
export function toTaskStartedText(started: TaskStarted): string {
  const notes = started.notes.map((note) => ` ${note}`).join("");
  return `Started ${started.delegationId} (${started.agent}, model ${started.model}, tools ${started.tools.join(", ")}). It works in the background: go on with your own work, and converge with TaskWait.${notes}`;
}

/** Write TaskStop's answer for the model: one line an id. */
export function toTaskStopText(outcomes: readonly StopOutcome[]): string {
  if (outcomes.length === 0) return "No delegate was running.";
  return outcomes.map(toStopLine).join("\n");
}

function toStopLine(outcome: StopOutcome): string {
  switch (outcome.outcome) {
    case "stopped":
      return `${outcome.delegationId}: stopped`;
    case "already":
      return `${outcome.delegationId}: already ${outcome.status}`;
    case "unknown":
      return `${JSON.stringify(cutAt(outcome.delegationId, 100))}: unknown`;
    case "no-longer-kept":
      return `${outcome.delegationId}: no longer kept`;
    case "not-confirmed":
      return `${outcome.delegationId}: stop requested, not yet confirmed`;
  }
}
