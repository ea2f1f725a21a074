import { EventType, type History, type HistoryEvent } from "./history.ts";
import type { ReplayWorker } from "./replay-worker.ts";

/** Looking for the place must not take longer than a person waits; a long history is replayed some sixteen times. */
const LOCATE_MS = 60_000;
const PATIENCE_MS = 20_000;

/**
 * Find the event at which a history stops replaying: the first one with which its beginning does not replay any more. The SDK's own words often
 * don't tell. Undefined if it can't be found in time.
 */
export async function locate(
  history: History,
  workflowId: string,
  worker: ReplayWorker,
): Promise<HistoryEvent | undefined> {
  const events = history.events ?? [];
  const deadline = Date.now() + LOCATE_MS;
  // With fewer events than these there is nothing that could be replayed.
  let good = events.findIndex(isTaskScheduled);
  let bad = events.length;
  if (good === -1) return undefined;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const { kind } = await worker.replay({ events: events.slice(0, middle) }, workflowId, PATIENCE_MS);
    if (kind === "stuck" || Date.now() > deadline) return undefined;
    if (kind === "replays") good = middle;
    else bad = middle;
  }
  return events[bad - 1];
}

function isTaskScheduled({ eventType }: HistoryEvent): boolean {
  return eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED;
}
