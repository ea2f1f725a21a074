import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  type EventGroupMarker,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from "@temporalio/workflow";
import type { Activities, RunRemains } from "../core/activities.ts";
import { type AgentRunInput, type AgentRunOutcome, agentRunDetailsSchema } from "../core/agent-run.ts";
import type { Catalogue, CatalogueRequest } from "../core/definition.ts";
import { toModelLabel } from "../core/definition.ts";
import { MAX_HEARTBEAT_TIMEOUT_SECONDS } from "../core/limits.ts";
import { noUsage } from "../core/status.ts";
import { cutAt } from "../core/text.ts";

/** Where a run is carried out and how it is shown in Temporal Web. */
export interface RunPlacement {
  taskQueue: string;
  summary: string;
  /** Shown together in Temporal Web. */
  group?: EventGroupMarker;
  /** Whether the session or the delegate was asked to end this run. */
  isCancelRequested: () => boolean;
}

/**
 * Carry out one agent run and turn every way in which its activity can end into an outcome.
 *
 * Attempts are not limited by number: a worker's shutdown must never use up a delegation's tries. The activity itself counts the workers
 * that were lost and gives up by an outcome.
 */
export async function carryOutRun(input: AgentRunInput, placement: RunPlacement): Promise<AgentRunOutcome> {
  const activities: Activities = proxyActivities<Activities>({
    taskQueue: placement.taskQueue,
    summary: placement.summary,
    ...(placement.group === undefined ? {} : { eventGroups: [placement.group] }),
    heartbeatTimeout: Math.min(input.limits.idleSeconds, MAX_HEARTBEAT_TIMEOUT_SECONDS) * 1000,
    scheduleToCloseTimeout: input.limits.maxDurationSeconds * 1000,
    // A stopped run still hands over its partial report. The SDK's own default would drop it.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      initialInterval: 1000,
      backoffCoefficient: 1,
      nonRetryableErrorTypes: ["PayloadsTooLarge"],
    },
  });
  try {
    return await activities.runAgent(input);
  } catch (error) {
    return await toOutcome(error, input, placement);
  }
}

async function toOutcome(
  error: unknown,
  input: AgentRunInput,
  placement: RunPlacement,
): Promise<AgentRunOutcome> {
  const model = toModelLabel(input.model);
  const told = readRemains(error);
  const isCancelled = isCancellation(error) || (placement.isCancelRequested() && !isBug(error));
  if (isCancelled) {
    // A worker that was lost or shut down while it was to stop left no word of its own; the server does not try again then.
    const remains = told ?? (isCancellation(error) ? nothing : await salvage(input, placement));
    return { ...remains, status: "cancelled", model };
  }
  if (toTimeout(error) !== undefined) {
    const message = `the ceiling of ${input.limits.maxDurationSeconds} s was reached`;
    return { ...(told ?? nothing), status: "timed_out", error: { code: "DURATION_TIMEOUT", message }, model };
  }
  return {
    ...(told ?? nothing),
    status: "failed",
    error: { code: "INTERNAL", message: describeFailure(error) },
    model,
  };
}

type Remains = Pick<AgentRunOutcome, "report" | "turns" | "toolCalls" | "usage" | "attempts" | "denials">;
const nothing: Remains = { report: "", turns: 0, toolCalls: 0, usage: noUsage, attempts: 1, denials: [] };

/** Failures that our own code calls a bug, or that no retry can mend. */
function isBug(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return (
    cause instanceof ApplicationFailure && (cause.type === "INTERNAL" || cause.type === "PayloadsTooLarge")
  );
}

function toTimeout(error: unknown): TimeoutFailure | undefined {
  return error instanceof ActivityFailure && error.cause instanceof TimeoutFailure ? error.cause : undefined;
}

/** What the last heartbeat told of a run that can't speak for itself any more, or what its failure carries of it. */
function readRemains(error: unknown): Remains | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const carried = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  const details = agentRunDetailsSchema.safeParse(toTimeout(error)?.lastHeartbeatDetails ?? carried);
  if (!details.success) return undefined;
  const { partialReport, turns, toolCalls, usage, attempt, denials } = details.data;
  return { report: partialReport, turns, toolCalls, usage, attempts: attempt, denials };
}

async function salvage(input: AgentRunInput, placement: RunPlacement): Promise<Remains> {
  const request = { sessionId: input.sessionId, chain: input.chain };
  const remains = await CancellationScope.nonCancellable(() => salvageRun(request, placement.taskQueue));
  return { ...nothing, ...remains };
}

function describeFailure(error: unknown): string {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) return cutAt(cause.message, 2000);
  return cutAt(cause instanceof Error ? cause.message : String(cause), 2000);
}

/** Read the definitions in force, on the worker's host. */
export async function loadCatalogue(request: CatalogueRequest, taskQueue: string): Promise<Catalogue> {
  const activities: Activities = proxyActivities<Activities>({
    taskQueue,
    summary: "read the definitions of agents",
    startToCloseTimeout: 30_000,
    scheduleToCloseTimeout: 600_000,
    retry: { maximumAttempts: 5 },
  });
  return await activities.loadCatalogue(request);
}

/** Read what a run left behind; nothing is left where the state folder can't be read in time. */
export async function salvageRun(
  request: { sessionId: string; chain: string },
  taskQueue: string,
): Promise<RunRemains> {
  const activities: Activities = proxyActivities<Activities>({
    taskQueue,
    summary: `read what ${request.chain} left`,
    scheduleToCloseTimeout: 10_000,
    retry: { maximumAttempts: 3 },
  });
  try {
    return await activities.salvageRun(request);
  } catch {
    return { report: "", turns: 0, toolCalls: 0, usage: noUsage };
  }
}
