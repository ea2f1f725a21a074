import type { Turn } from "../../core/session.ts";

/** What a command's exit code says. */
export const exitCodes = {
  completed: 0,
  failed: 1,
  /** Usage or configuration: nothing was done. */
  usage: 2,
  /** Stopped, aborted or timed out; `wait` that ran out of time. */
  endedEarly: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit code of a run by its own status; how its delegates ended does not change it. */
export function toExitCode(status: Turn["status"]): ExitCode {
  switch (status) {
    case "completed":
      return exitCodes.completed;
    case "failed":
      return exitCodes.failed;
    case "timed_out":
    case "aborted":
    // A run that is given up while its turn still runs has not completed.
    case "running":
      return exitCodes.endedEarly;
  }
}
