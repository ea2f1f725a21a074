import type { AgentRunDetails } from "./agent-run.ts";
import { toOneLine } from "./text.ts";

/** What is known of a running delegate from outside its workflow. */
export type LiveState =
  | { kind: "queued" }
  | { kind: "running"; attempt: number; details: AgentRunDetails | undefined }
  /** The last attempt ended without its worker's word and the next one has not begun. */
  | { kind: "worker-lost"; sinceMs: number | undefined; details: AgentRunDetails | undefined }
  /** Its worker was shut down and gave the run back; the next attempt has not begun. */
  | { kind: "handed-back"; details: AgentRunDetails }
  | { kind: "stopping"; details: AgentRunDetails | undefined }
  | { kind: "unknown"; reason: string };

/** Say in a few words what a running delegate is doing, and since when. Every state has words of its own. */
export function describeActivity(live: LiveState | undefined, nowMs: number): string {
  return `${describeDoing(live)}${describeClock(live, nowMs)}`;
}

/** The same without its clock: it changes only with what is being done. */
export function describeDoing(live: LiveState | undefined): string {
  if (live === undefined) return "no news yet";
  switch (live.kind) {
    case "queued":
      return "queued: no worker has taken it yet";
    case "unknown":
      return `unknown (${live.reason})`;
    case "worker-lost":
      return live.sinceMs === undefined
        ? "worker lost"
        : `worker lost since ${new Date(live.sinceMs).toISOString()}`;
    case "handed-back":
      return "handed back by its worker, waits for the next one";
    case "stopping":
      return "stop requested, not yet confirmed";
    case "running":
      return describePhase(live.details);
  }
}

type PhaseDetails = Pick<AgentRunDetails, "phase" | "tool" | "backoff">;

function describePhase(details: PhaseDetails | undefined): string {
  switch (details?.phase) {
    case undefined:
      return "starting";
    case "setting-up":
      return "setting up";
    case "model":
      return "waiting for the model";
    case "backoff":
      return `waiting for provider, try ${details.backoff?.nextTry ?? "?"}`;
    case "tool":
      return details.tool === undefined
        ? "running a tool"
        : `running ${`${details.tool.name} ${details.tool.target}`.trim()}`;
    case "question":
      return "asks permission";
    case "saving":
      return "saving its report";
  }
}

function describeClock(live: LiveState | undefined, nowMs: number): string {
  const details = live?.kind === "running" ? live.details : undefined;
  if (details?.phase === "tool" && details.tool !== undefined)
    return ` for ${toSeconds(nowMs - details.tool.sinceMs)}s`;
  const isWaiting = details?.phase === "model" || details?.phase === "backoff" || details?.phase === "tool";
  return isWaiting ? `, last event ${toSeconds(nowMs - details.lastEventAtMs)}s ago` : "";
}

/** Say what a run is doing in words that stay true until its next event, for whoever reads them later. */
export function describeForLater(details: PhaseDetails): string {
  const words = toOneLine(describePhase(details), 200);
  if (details.phase === "tool" && details.tool !== undefined)
    return `${words} since ${new Date(details.tool.sinceMs).toISOString()}`;
  if (details.phase === "backoff" && details.backoff !== undefined)
    return `${words} at ${new Date(details.backoff.untilMs).toISOString()}`;
  return words;
}

/** Whole seconds, never negative: clocks of two hosts may differ a little. */
export function toSeconds(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds / 1000));
}
