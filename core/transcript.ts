import type { RunError, Usage } from "./status.ts";

/** How a tool call ended: `denied` never ran, `interrupted` may have run as its worker was lost, `running` has no end yet. */
export type ToolOutcome = "ok" | "error" | "denied" | "interrupted" | "running";

/** One thing that a transcript says, in the order in which it was written down. Times are the worker's; older transcripts lack some. */
export type TranscriptItem = { atMs?: number } & (
  | {
      kind: "attempt";
      runId: string;
      attempt: number;
      worker?: string;
      /** What is known of the attempt before; absent for the first, and where it could not speak. */
      before?: { attempt: number; worker: string; lastEventAtMs: number; isHandedBack: boolean };
    }
  | { kind: "user"; text: string }
  | {
      kind: "assistant";
      text: string;
      thinking: string;
      calls: { callId: string; tool: string; input: unknown }[];
      model: string;
      stopReason: string;
      usage: Usage;
      /** Requests that failed before this answer came. */
      retries: { atMs: number; waitMs: number; nextTry: number; code?: string }[];
    }
  /** A call that may change something was allowed and begins. */
  | { kind: "tool-start"; callId: string }
  | {
      kind: "tool-end";
      callId: string;
      tool: string;
      outcome: Exclude<ToolOutcome, "running">;
      durationMs?: number;
      text: string;
    }
  | { kind: "turn-end" }
  | { kind: "end"; runId: string; status: string; report: string; error?: RunError }
  /** A line that can't be read. */
  | { kind: "damaged"; line: number }
);

/** What a call is about, for a person: what it searches for and where, or its most telling argument. */
export function toCallTarget(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const { path, command, pattern, agent, delegationIds } = input as Record<string, unknown>;
  if (typeof pattern === "string" && typeof path === "string") return `${pattern} in ${path}`;
  const telling = path ?? command ?? pattern ?? agent ?? delegationIds ?? "";
  return typeof telling === "string" ? telling : (JSON.stringify(telling) ?? "");
}
