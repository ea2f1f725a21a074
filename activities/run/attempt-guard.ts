import { Context } from "@temporalio/activity";
import type { AgentRunInput } from "../../core/agent-run.ts";
import { startTimer } from "../tools/command-timeout.ts";
import type { Attempt } from "./attempt.ts";
import type { ActivityHost } from "./host.ts";
import { watchStanding } from "./stop-watch.ts";

/** The worker calls the ceiling a moment before the server does, so that the freshest partial report is kept. */
const CEILING_MARGIN_MS = 1_000;

/**
 * Watch for what can end an attempt from outside: its ceiling over all attempts, a cancellation by whatever channel, a shutdown of the worker.
 *
 * @returns ends the watching
 */
export function guardAttempt(attempt: Attempt, run: AgentRunInput, host: ActivityHost): () => void {
  const context = Context.current();
  const { info } = context;
  const ceilingMs = info.scheduledTimestampMs + run.limits.maxDurationSeconds * 1000 - CEILING_MARGIN_MS;
  const callOffCeiling = startTimer(Math.max(0, ceilingMs - Date.now()), () =>
    attempt.end({ kind: "ceiling" }),
  );
  const unwatch = watchStanding(
    host.askStanding,
    {
      workflowId: info.workflowExecution?.workflowId ?? "",
      workflowRunId: info.workflowExecution?.runId ?? "",
      activityId: info.activityId,
      attempt: info.attempt,
    },
    (standing) => attempt.end(standing === "cancel-requested" ? { kind: "cancelled" } : { kind: "replaced" }),
  );
  context.cancelled.catch((failure: unknown) => {
    const details = context.cancellationDetails;
    // The cause is read, never guessed: only a request of the workflow is a stop.
    if (details?.cancelRequested) attempt.end({ kind: "cancelled" });
    else if (details?.timedOut || details?.notFound) attempt.end({ kind: "replaced" });
    else attempt.end({ kind: "handed-back", failure });
  });
  return () => {
    callOffCeiling();
    unwatch();
  };
}
