import type { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import type { ActivityRef, AttemptStanding } from "../activities/index.ts";

const CANCEL_REQUESTED: temporal.api.enums.v1.PendingActivityState = 3;

/** Ask the server whether an attempt of an activity is still wanted. */
export async function askStanding(client: Client, ref: ActivityRef): Promise<AttemptStanding> {
  const answer = await client.workflowService.describeWorkflowExecution({
    namespace: client.options.namespace,
    execution: { workflowId: ref.workflowId, runId: ref.workflowRunId },
  });
  const pending = answer.pendingActivities?.find((activity) => activity.activityId === ref.activityId);
  if (pending === undefined || (pending.attempt ?? 0) > ref.attempt) return "replaced";
  return pending.state === CANCEL_REQUESTED ? "cancel-requested" : "wanted";
}
