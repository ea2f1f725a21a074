import type { TraceContext } from "../../core/trace-context.ts";
import {
  type MetricSettings,
  readTelemetry,
  type TelemetrySettings,
} from "../../worker/telemetry/settings.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { type Host, Interrupted } from "./host.ts";

/** The span of a command: what all that it sets going belongs under. */
export interface CommandTrace {
  /** Undefined where nothing is traced. */
  context: TraceContext | undefined;
  setSession(sessionId: string): void;
  /** End the span and send it; undefined for a command that failed. Only the first call counts, the others wait for it. */
  end(exitCode: ExitCode | undefined): Promise<void>;
}

/**
 * Carry out a command under a span of its own, where telemetry is on. The trace that the environment's TRACEPARENT names goes on.
 *
 * @throws ConfigurationError before anything is started.
 */
export async function traceCommand(
  name: string,
  isAsked: boolean,
  host: Host,
  act: (trace: CommandTrace) => Promise<ExitCode>,
): Promise<ExitCode> {
  const settings = readTelemetry(host.environment, isAsked);
  for (const warning of settings.warnings) host.output.say(`warning: ${warning}`);
  // The worker that may be started serves them: what it would refuse is refused here.
  if (settings.metrics !== undefined) await checkMetrics(settings.metrics);
  const trace = await startTrace(name, settings, host);
  let exitCode: ExitCode | undefined;
  try {
    exitCode = await act(trace);
    return exitCode;
  } catch (error) {
    if (error instanceof Interrupted) exitCode = exitCodes.interrupted;
    throw error;
  } finally {
    await trace.end(exitCode);
  }
}

async function checkMetrics(metrics: MetricSettings): Promise<void> {
  if (metrics.exporter !== "prometheus" || metrics.isOptional) return;
  const { findMetricsEndpoint } = await import("../../worker/telemetry/metrics-endpoint.ts");
  await findMetricsEndpoint(metrics.host, metrics.port);
}

async function startTrace(name: string, settings: TelemetrySettings, host: Host): Promise<CommandTrace> {
  const { traces } = settings;
  if (traces === undefined)
    return { context: undefined, setSession: () => undefined, end: async () => undefined };
  // Nothing of it is loaded where nothing is traced.
  const { startCommandSpan } = await import("../../worker/telemetry/command-span.ts");
  const { TRACEPARENT: traceparent, TRACESTATE: tracestate } = host.environment;
  const log = (line: string) => host.output.say(line);
  const span = await startCommandSpan(name, { traceparent, tracestate }, { ...settings, traces }, log);
  let ended: Promise<void> | undefined;
  return {
    context: span.context,
    setSession: (sessionId) => span.set("gen_ai.conversation.id", sessionId),
    async end(exitCode) {
      ended ??= span.end(exitCode ?? "failed", exitCode === undefined || exitCode === exitCodes.failed);
      await ended;
    },
  };
}
