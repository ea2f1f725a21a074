import type { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { toWorkerGone } from "./reclaim.ts";
import { isOfDeadProcess, readProcessSpace } from "./worker-identity.ts";

const STARTED: temporal.api.enums.v1.PendingActivityState = 2;
const CANCEL_REQUESTED: temporal.api.enums.v1.PendingActivityState = 3;
/** More open sessions and delegates than one host's worker could have had under way. */
const MAX_WORKFLOWS = 1_000;
const LOOKS_AT_ONCE = 10;

/**
 * Hand back the tasks that the server gave to a process of this host which was killed before it could note them.
 *
 * Tells by the identity that the server keeps with a task, and only of processes of the same boot and the same space of process numbers: of any
 * other it can't be told whether they live. Those are left to the heartbeat timeout.
 */
export async function handBackLostTasks(
  client: Client,
  taskQueue: string,
  log: (line: string) => void,
): Promise<number> {
  if (readProcessSpace() === "") return 0;
  const query = `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue.replaceAll("'", "''")}'`;
  const open: { workflowId: string; runId: string }[] = [];
  try {
    for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: 100 })) {
      open.push({ workflowId, runId });
      if (open.length >= MAX_WORKFLOWS) break;
    }
    let handedBack = 0;
    for (let start = 0; start < open.length; start += LOOKS_AT_ONCE) {
      const batch = open.slice(start, start + LOOKS_AT_ONCE);
      const counts = await Promise.all(batch.map((execution) => handBackOf(client, execution)));
      handedBack += counts.reduce((sum, count) => sum + count, 0);
    }
    return handedBack;
  } catch (error) {
    log(`could not look for lost tasks; the server will notice by itself: ${String(error)}`);
    return 0;
  }
}

async function handBackOf(client: Client, execution: { workflowId: string; runId: string }): Promise<number> {
  const { pendingActivities } = await client.workflowService.describeWorkflowExecution({
    namespace: client.options.namespace,
    execution,
  });
  const lost = (pendingActivities ?? []).filter(
    ({ state, lastWorkerIdentity }) =>
      (state === STARTED || state === CANCEL_REQUESTED) && isOfDeadProcess(lastWorkerIdentity ?? ""),
  );
  const failure = toWorkerGone();
  const results = await Promise.allSettled(
    lost.map(({ activityId }) =>
      client.activity.fail({ ...execution, activityId: activityId ?? "" }, failure),
    ),
  );
  return results.filter(({ status }) => status === "fulfilled").length;
}
