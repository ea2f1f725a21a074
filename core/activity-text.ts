import type { AgentRunDetails } from "./agent-run.ts";

/** What is known of a running delegate from outside its workflow. */
export type LiveState =
  | { kind: "queued" }
  | { kind: "running"; attempt: number; details: AgentRunDetails | undefined }
  /** The last attempt ended without its worker's word and the next one has not begun. */
  | { kind: "worker-lost"; sinceMs: number | undefined; details: AgentRunDetails | undefined }
  | { kind: "stopping"; details: AgentRunDetails | undefined }
  | { kind: "unknown"; reason: string };

/** Say in a few words what a running delegate is doing. Every state has words of its own. */
export function describeActivity(live: LiveState | undefined, nowMs: number): string {
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
    case "stopping":
      return "stop requested, not yet confirmed";
    case "running":
      return describePhase(live.details, nowMs);
  }
}

function describePhase(details: AgentRunDetails | undefined, nowMs: number): string {
  if (details === undefined) return "starting";
  const silence = `last event ${toSeconds(nowMs - details.lastEventAtMs)}s ago`;
  switch (details.phase) {
    case "setting-up":
      return "setting up";
    case "model":
      return `waiting for the model, ${silence}`;
    case "backoff":
      return `waiting for provider, try ${details.backoff?.nextTry ?? "?"}, ${silence}`;
    case "tool":
      return details.tool === undefined
        ? `running a tool, ${silence}`
        : `running ${`${details.tool.name} ${details.tool.target}`.trim()} for ${toSeconds(nowMs - details.tool.sinceMs)}s`;
    case "question":
      return "asks permission";
    case "saving":
      return "saving its report";
  }
}

/** Whole seconds, never negative: clocks of two hosts may differ a little. */
export function toSeconds(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds / 1000));
}
