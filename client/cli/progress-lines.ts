import { describeActivity, type LiveState } from "../../core/activity-text.ts";
import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import type { Turn } from "../../core/session.ts";
import { toCountText } from "../../core/text.ts";
import { toDurationText } from "./durations.ts";
import { listDelegationsOfTurn, type Snapshot } from "./progress.ts";
import { toTerminalLine } from "./terminal-width.ts";

/** Delegates that are shown at once. */
const MAX_SHOWN = 10;

/** Write a turn's present state as lines of a terminal: at most one line for the main agent, ten for delegates, one for the rest. */
export function toProgressLines(snapshot: Snapshot, columns: number): string[] {
  const { view, turn, main, live } = snapshot;
  const record = view.turns.find(({ number }) => number === turn);
  const elapsed = record === undefined ? 0 : Math.max(0, view.nowMs - record.startedAtMs) / 1000;
  const delegations = listDelegationsOfTurn(view, turn);
  const running = delegations.filter(({ status }) => status === "running");
  const settled = delegations.filter(({ status }) => status !== "running").toReversed();
  const shown = [...running, ...settled].slice(0, MAX_SHOWN);
  const more = delegations.length - shown.length;
  const head = `main agent · ${toDurationText(elapsed)} · ${toMainActivity(record, main, view.nowMs)}`;
  const rows = shown.map((delegation) => toRow(delegation, live.get(delegation.id), view.nowMs));
  const rest = more > 0 ? [`  and ${more} more`] : [];
  return [head, ...rows, ...rest].map((line) => toTerminalLine(line, columns));
}

function toMainActivity(record: Turn | undefined, main: LiveState | undefined, nowMs: number): string {
  if (record !== undefined && record.status !== "running") return record.status;
  // Its run is over, and was counted; what is left is the end of its delegates.
  if (record !== undefined && record.turns > 0 && main?.kind === "queued") return "ends its delegates";
  return toActivity(main, nowMs);
}

function toRow(delegation: Delegation, live: LiveState | undefined, nowMs: number): string {
  const elapsed = toDurationText(toElapsedSeconds(delegation, nowMs));
  const title = `  ${delegation.id} ${delegation.agent}`;
  const purpose = delegation.description === "" ? "" : ` · ${delegation.description}`;
  if (delegation.status !== "running") {
    const code = delegation.error === undefined ? "" : ` (${delegation.error.code})`;
    return `${title} · ${delegation.status}${code} · ${elapsed}${purpose}`;
  }
  return `${title} · ${elapsed} · ${describeDelegate(delegation, live, nowMs)}${purpose}`;
}

/** What a running delegate is doing, in words. */
export function describeDelegate(delegation: Delegation, live: LiveState | undefined, nowMs: number): string {
  return delegation.stopRequested === undefined
    ? toActivity(live, nowMs)
    : "stop requested, not yet confirmed";
}

function toActivity(live: LiveState | undefined, nowMs: number): string {
  const counts =
    live !== undefined && "details" in live && live.details !== undefined
      ? ` · ${toCountText(live.details.turns, "turn")}, ${toCountText(live.details.toolCalls, "tool call")}`
      : "";
  return `${describeActivity(live, nowMs)}${counts}`;
}
