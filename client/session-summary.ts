import type { WorkflowExecutionInfo } from "@temporalio/client";
import { fromTurnLine, type TurnLine } from "../core/turn-line.ts";

/** A session as a list shows it, by the server's records alone: it needs no worker. */
export interface SessionSummary {
  sessionId: string;
  /** `open`, or how its workflow ended. */
  status: "open" | "closed" | "cancelled" | "terminated" | "failed" | "timed_out" | "unknown";
  /** The latest turn that has ended; undefined before the first one has. */
  turn: TurnLine | undefined;
  /** The beginning of the first message; empty if the session was started without one. */
  prompt: string;
  workspace: string;
  taskQueue: string;
  startedAtMs: number;
  closedAtMs: number | undefined;
  runningDelegates: number;
}

/** Tell of a session what the server's record of it holds. Its running delegates have records of their own: they count as none. */
export function toSummary(info: Omit<WorkflowExecutionInfo, "raw">): SessionSummary {
  return {
    sessionId: info.workflowId,
    status: toStatus(info.status.name),
    turn: fromTurnLine(info.memo?.turn),
    prompt: toMemoText(info.memo?.prompt),
    workspace: toMemoText(info.memo?.workspace),
    taskQueue: info.taskQueue,
    startedAtMs: info.startTime.getTime(),
    closedAtMs: info.closeTime?.getTime(),
    runningDelegates: 0,
  };
}

/** A memo is written by whoever starts the workflow: nothing is taken for granted. */
function toMemoText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toStatus(name: WorkflowExecutionInfo["status"]["name"]): SessionSummary["status"] {
  switch (name) {
    case "RUNNING":
      return "open";
    case "COMPLETED":
      return "closed";
    case "CANCELLED":
      return "cancelled";
    case "TERMINATED":
      return "terminated";
    case "FAILED":
      return "failed";
    case "TIMED_OUT":
      return "timed_out";
    default:
      return "unknown";
  }
}
