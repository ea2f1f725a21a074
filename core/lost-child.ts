import type { RunError } from "./status.ts";

/** How a delegate's workflow can end without a word of its own. */
export type LostChildCause = "terminated" | "deleted" | "timed-out" | "failed" | "not-started";

/** Turn the end of a delegate's workflow that could not settle itself into a delegation's ending. */
export function toLostChildEnding(
  cause: LostChildCause,
  message: string,
): { status: "failed" | "timed_out"; error: RunError } {
  switch (cause) {
    case "terminated":
      return {
        status: "failed",
        error: { code: "TERMINATED", message: "its workflow was terminated from outside" },
      };
    case "deleted":
      return {
        status: "failed",
        error: { code: "TERMINATED", message: "its workflow was deleted from outside" },
      };
    case "timed-out":
      return {
        status: "timed_out",
        error: {
          code: "DURATION_TIMEOUT",
          message: "its workflow's execution timeout was reached before its run could end",
        },
      };
    case "failed":
      return { status: "failed", error: { code: "INTERNAL", message } };
    case "not-started":
      return { status: "failed", error: { code: "START_FAILED", message } };
  }
}
