import { DEFAULT_TASK_QUEUE } from "../../core/messages.ts";
import { listLivingWorkers } from "../../worker/registry.ts";
import type { Connected } from "./connect.ts";
import type { Host } from "./host.ts";

/** Whether a worker on this host listens to a task queue of the server that is meant. */
export async function hasLivingWorker(taskQueue: string, { lease }: Connected, host: Host): Promise<boolean> {
  const workers = await listLivingWorkers(host.stateFolder);
  return workers.some(
    (worker) =>
      worker.taskQueue === taskQueue &&
      worker.address === lease.address &&
      worker.namespace === lease.namespace,
  );
}

/** Choose a new session's task queue: the one named; the usual one if a worker here listens to it; else one of its own. */
export async function chooseTaskQueue(
  named: string | undefined,
  sessionId: string,
  connected: Connected,
  host: Host,
): Promise<string> {
  if (named !== undefined) return named;
  return (await hasLivingWorker(DEFAULT_TASK_QUEUE, connected, host))
    ? DEFAULT_TASK_QUEUE
    : `${DEFAULT_TASK_QUEUE}-${sessionId}`;
}
