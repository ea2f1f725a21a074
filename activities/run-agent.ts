import { ApplicationFailure, CancelledFailure, Context } from "@temporalio/activity";
import {
  type AgentRunDetails,
  type AgentRunInput,
  type AgentRunOutcome,
  agentRunDetailsSchema,
} from "../core/agent-run.ts";
import { toModelLabel } from "../core/definition.ts";
import { carryOut } from "./run/carry-out.ts";
import { Heartbeater } from "./run/heartbeater.ts";
import type { ActivityHost } from "./run/host.ts";
import { LiveFile } from "./run/live-file.ts";
import { RunMonitor } from "./run/run-monitor.ts";
import { RunTelemetry } from "./telemetry/run-telemetry.ts";

/**
 * Run one agent to its end; see the contract in core/activities.ts.
 *
 * The main thread keeps the clocks, the journal and the permissions; the loop and its tools run in a thread of their own, so that nothing that they do
 * can starve a heartbeat or a stop. Beats from its first moment to its last.
 */
export async function runAgent(run: AgentRunInput, host: ActivityHost): Promise<AgentRunOutcome> {
  const context = Context.current();
  const { attempt } = context.info;
  const previous = readDetails(context.info.heartbeatDetails);
  const isHistoryUnreadable = previous === undefined && context.info.heartbeatDetails !== undefined;
  const monitor = new RunMonitor(
    {
      attempt: isHistoryUnreadable ? 1 : attempt,
      previous,
      model: toModelLabel(run.model),
      worker: host.worker,
    },
    Date.now(),
  );
  const live = new LiveFile(host.stateFolder, run);
  const heartbeater = new Heartbeater(run, monitor, (details) => {
    context.heartbeat(details);
    live.note(details, monitor.partialText);
  });
  const telemetry = new RunTelemetry(run);
  let outcome: AgentRunOutcome | undefined;
  try {
    telemetry.follow(isHistoryUnreadable ? 1 : attempt, previous);
    const progress = { run, host, monitor, heartbeater, telemetry, attempt, previous, isHistoryUnreadable };
    outcome = await carryOut(progress);
    return outcome;
  } catch (error) {
    if (error instanceof CancelledFailure || error instanceof ApplicationFailure) throw error;
    // A bug of ours: retrying would meet it again.
    throw ApplicationFailure.nonRetryable(
      error instanceof Error ? (error.stack ?? error.message) : String(error),
      "INTERNAL",
      monitor.toDetails(),
    );
  } finally {
    heartbeater.stop();
    telemetry.end(outcome, monitor);
    await live.end();
  }
}

/** Details of another version of this code may not be readable; the journal tells the rest. */
function readDetails(details: unknown): AgentRunDetails | undefined {
  const parsed = agentRunDetailsSchema.safeParse(details);
  return parsed.success ? parsed.data : undefined;
}
