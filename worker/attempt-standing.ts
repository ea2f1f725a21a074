import { type Client, isGrpcServiceError } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import type { ActivityRef, AttemptStanding } from "../activities/index.ts";
import { NOT_FOUND } from "./server/probe-server.ts";

const CANCEL_REQUESTED: temporal.api.enums.v1.PendingActivityState = 3;

const DEADLINE_MS = 2_000;

/** The server's record of the attempt's workflow; undefined if there is none any more. */
async function describe(client: Client, ref: ActivityRef) {
  try {
    return await client.workflowService.describeWorkflowExecution({
      namespace: client.options.namespace,
      execution: { workflowId: ref.workflowId, runId: ref.workflowRunId },
    });
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === NOT_FOUND) return undefined;
    throw error;
  }
}

/** Ask the server whether an attempt of an activity is still wanted. */
export async function askStanding(client: Client, ref: ActivityRef): Promise<AttemptStanding> {
  // One call that hangs must not end the asking.
  const answer = await client.withDeadline(Date.now() + DEADLINE_MS, async () => await describe(client, ref));
  if (answer === undefined) return "replaced";
  const pending = answer.pendingActivities?.find((activity) => activity.activityId === ref.activityId);
  if (pending === undefined || (pending.attempt ?? 0) > ref.attempt) return "replaced";
  return pending.state === CANCEL_REQUESTED ? "cancel-requested" : "wanted";
}
