import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { LoadedDataConverter, Payload } from "@temporalio/common";
import proto, { type temporal } from "@temporalio/proto";
import type { Activities } from "../core/activities.ts";
import type { LiveState } from "../core/activity-text.ts";
import { type AgentRunDetails, agentRunDetailsSchema, type RunPhase } from "../core/agent-run.ts";
import { MAX_HEARTBEAT_THROTTLE_MS, PHASE_HEARTBEAT_MS } from "../core/limits.ts";
import { type Timestamp, toMs } from "../core/timestamp.ts";

type PendingActivity = temporal.api.workflow.v1.IPendingActivityInfo;
/** Name of the activity that carries out a run. */
const RUN_ACTIVITY = "runAgent" satisfies keyof Activities;
const activityStates = proto.temporal.api.enums.v1.PendingActivityState;

/** In these phases nothing but the model's own words beats; silence means nothing there. */
const silentPhases: ReadonlySet<RunPhase> = new Set(["model", "backoff"]);
/** In every other phase a timer beats. Three beats and a throttle missed, and half a minute for the two hosts' clocks. */
const SURE_SILENCE_MS = 3 * PHASE_HEARTBEAT_MS + MAX_HEARTBEAT_THROTTLE_MS + 30_000;

/**
 * Tell from the server's record of a workflow what the agent run in it is doing.
 *
 * A lost worker is named as soon as the server knows of it, or where a worker that is bound to beat has fallen silent.
 */
export async function toLiveState(
  description: WorkflowExecutionDescription,
  converter: LoadedDataConverter,
  nowMs: number,
): Promise<LiveState> {
  if (description.status.name !== "RUNNING") {
    return { kind: "unknown", reason: `its workflow is ${description.status.name.toLowerCase()}` };
  }
  const pending = description.raw.pendingActivities ?? [];
  const activity = pending.find(({ activityType }) => activityType?.name === RUN_ACTIVITY) ?? pending[0];
  // No run yet: no worker has taken the workflow's first step.
  if (activity === undefined) return { kind: "queued" };
  const details = await decodeDetails(activity, converter);
  switch (activity.state) {
    case activityStates.PENDING_ACTIVITY_STATE_SCHEDULED:
      return toWaitingState(activity, details);
    case activityStates.PENDING_ACTIVITY_STATE_STARTED:
      return toStartedState(activity, details, nowMs);
    case activityStates.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED:
      return { kind: "stopping", details };
    case activityStates.PENDING_ACTIVITY_STATE_PAUSED:
    case activityStates.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED:
      return { kind: "unknown", reason: "an operator has paused its activity" };
    default:
      return { kind: "unknown", reason: `its activity is in state ${activity.state}` };
  }
}

function toWaitingState(activity: PendingActivity, details: AgentRunDetails | undefined): LiveState {
  const attempt = activity.attempt ?? 1;
  if (attempt <= 1) return { kind: "queued" };
  if (details?.handedBack && details.attempt === attempt - 1) return { kind: "handed-back", details };
  return { kind: "worker-lost", sinceMs: toLastSignMs(activity), details };
}

function toStartedState(
  activity: PendingActivity,
  details: AgentRunDetails | undefined,
  nowMs: number,
): LiveState {
  const attempt = activity.attempt ?? 1;
  // Until an attempt beats for the first time, the server still shows what the one before it said.
  const own = details?.attempt === attempt ? details : undefined;
  const lastSignMs = toTimeMs(activity.lastHeartbeatTime);
  const isBound = own !== undefined && !silentPhases.has(own.phase);
  if (isBound && lastSignMs !== undefined && nowMs - lastSignMs > SURE_SILENCE_MS) {
    return { kind: "worker-lost", sinceMs: lastSignMs, details };
  }
  return { kind: "running", attempt, details: own };
}

function toLastSignMs(activity: PendingActivity): number | undefined {
  return toTimeMs(activity.lastHeartbeatTime) ?? toTimeMs(activity.lastStartedTime);
}

function toTimeMs(time: Timestamp | null | undefined): number | undefined {
  return toMs(time) || undefined;
}

/** Details that can't be decoded or are not ours tell nothing, and are no reason to fail. */
async function decodeDetails(
  activity: PendingActivity,
  converter: LoadedDataConverter,
): Promise<AgentRunDetails | undefined> {
  try {
    let payloads: Payload[] = activity.heartbeatDetails?.payloads ?? [];
    for (const codec of converter.payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
    const [payload] = payloads;
    if (payload === undefined) return undefined;
    return agentRunDetailsSchema.safeParse(converter.payloadConverter.fromPayload(payload)).data;
  } catch {
    return undefined;
  }
}
