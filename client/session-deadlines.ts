import {
  MAX_HEARTBEAT_TIMEOUT_SECONDS,
  STOP_EFFECT_SECONDS,
  TASK_STOP_ANSWER_SECONDS,
} from "../core/limits.ts";
import { clampWaitSeconds, type TaskWaitInput } from "../core/task-calls.ts";

/** How long a call waits for a lost worker to be replaced: the time in which one is noticed, and a minute to start another. */
export const WORKER_PATIENCE_MS = (MAX_HEARTBEAT_TIMEOUT_SECONDS + 60) * 1000;
/** How long a look at a session may take. It changes nothing, so it is cheap to repeat. */
export const QUERY_PATIENCE_MS = 30_000;

/** How long TaskWait is waited for: as long as it asks, and for a lost worker besides. */
export function toTaskWaitPatienceMs(input: TaskWaitInput): number {
  return clampWaitSeconds(input.timeoutSeconds) * 1000 + WORKER_PATIENCE_MS;
}

export const TASK_STOP_PATIENCE_MS = TASK_STOP_ANSWER_SECONDS * 1000 + WORKER_PATIENCE_MS;
/** An aborted turn ends its main agent and then its delegates, each within the time of a stop. */
export const ABORT_PATIENCE_MS =
  (2 * STOP_EFFECT_SECONDS + TASK_STOP_ANSWER_SECONDS) * 1000 + WORKER_PATIENCE_MS;
