import { type Delegation, type Settlement, settlementSchema } from "../../core/delegation.ts";
import { toLostChildEnding } from "../../core/lost-child.ts";
import type { Turn } from "../../core/session.ts";
import type { RunError } from "../../core/status.ts";
import type { Ended, Fact } from "./facts.ts";

/** How a session ended by the server's record; `deleted` where the server has none of it any more. */
export interface SessionEnd {
  how: Extract<Fact, { kind: "ended" }>["how"] | "deleted";
  atMs: number;
  /** Why, in the words of who or what ended it; may be empty. */
  reason: string;
  /** Who terminated it, as the server names them. */
  by: string;
}

/** How a delegate ended by its own workflow. A result that can't be read is told as a failure. */
export function toSettlement(
  record: Delegation,
  how: Ended | "continued" | "deleted",
  result: unknown,
  message: string,
): Settlement {
  const settlement = settlementSchema.safeParse(result).data;
  if (settlement !== undefined) return { ...settlement, delegationId: record.id };
  const { report, turns, toolCalls, usage, model, denials } = record;
  const kept = { delegationId: record.id, report, turns, toolCalls, usage, model, denials, attempts: 1 };
  if (how === "cancelled") return { ...kept, status: record.stopRequested ?? "stopped" };
  const cause = how === "completed" || how === "continued" ? "failed" : how;
  return { ...kept, ...toLostChildEnding(cause, message || "its workflow left no result that can be read") };
}

/** End a turn that its session could not end. A turn that has ended stays as it is. */
export function endTurnWithSession(turn: Turn, end: SessionEnd): Turn {
  if (turn.status !== "running") return turn;
  const error = toTurnError(end);
  const status =
    error === undefined
      ? ("aborted" as const)
      : end.how === "timed-out"
        ? ("timed_out" as const)
        : ("failed" as const);
  return { ...turn, status, endedAtMs: end.atMs, ...(error === undefined ? {} : { error }) };
}

function toTurnError({ how, reason, by }: SessionEnd): RunError | undefined {
  const why = reason === "" ? "" : `: ${reason}`;
  switch (how) {
    case "terminated":
      return { code: "TERMINATED", message: `its session was terminated${by && ` by ${by}`}${why}` };
    case "deleted":
      return { code: "TERMINATED", message: "its session was deleted from the server" };
    case "timed-out":
      return { code: "DURATION_TIMEOUT", message: "its session reached its own execution timeout" };
    case "failed":
    case "not-started":
      return { code: "INTERNAL", message: `its session failed${why}` };
    case "cancelled":
    case "completed":
    case "continued":
      return undefined;
  }
}
