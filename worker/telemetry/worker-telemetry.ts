import { setTimeout as sleep } from "node:timers/promises";
import { installWorkerRuntime } from "../runtime.ts";
import { type MetricsPlan, planMetrics } from "./metrics.ts";
import type { MetricSettings, TelemetrySettings } from "./settings.ts";
import { startTracing } from "./tracing.ts";

/** A worker process's telemetry, on or off. */
export interface WorkerTelemetry {
  /** Where metrics and traces are or go to. */
  places: { metrics?: string; traces?: string };
  warnings: string[];
  /** Let the last numbers out, once all work is done and before the worker's connection closes: the SDK pushes by its clock alone. */
  pushLast(): Promise<void>;
  /** Send what is left; at most a second. */
  end(): Promise<void>;
}

/**
 * Set a worker process up, before its first worker: the SDK's runtime, and what is traced and measured.
 *
 * @throws ConfigurationError where metrics can't be served at the host that was named.
 */
export async function startWorkerTelemetry(
  settings: TelemetrySettings,
  log: (line: string) => void,
): Promise<WorkerTelemetry> {
  const { traces, metrics } = settings;
  const plan = metrics === undefined ? undefined : await installWithMetrics({ ...settings, metrics }, log);
  if (plan === undefined) installWorkerRuntime(log);
  const tracing = traces === undefined ? undefined : await startTracing({ ...settings, traces }, log);
  return {
    places: {
      ...(plan === undefined ? {} : { metrics: plan.url }),
      ...(traces === undefined ? {} : { traces: traces.exporter === "console" ? "console" : traces.url }),
    },
    warnings: plan?.warning === undefined ? [] : [plan.warning],
    pushLast: async () => await waitForPush(metrics),
    end: async () => await tracing?.end(),
  };
}

/** A worker's end waits no longer than this for numbers. */
const MAX_PUSH_WAIT_MS = 1_200;

async function waitForPush(metrics: MetricSettings | undefined): Promise<void> {
  if (metrics?.exporter !== "otlp") return;
  await sleep(Math.min(metrics.intervalMs * 1.2, MAX_PUSH_WAIT_MS));
}

async function installWithMetrics(
  settings: TelemetrySettings & { metrics: MetricSettings },
  log: (line: string) => void,
): Promise<MetricsPlan> {
  const plan = await planMetrics(settings);
  try {
    installWorkerRuntime(log, plan.options);
    return plan;
  } catch (error) {
    // Another process took the port between the look and the listening: the next look sees it.
    if (!/address already in use/i.test(String(error))) throw error;
    const next = await planMetrics(settings);
    installWorkerRuntime(log, next.options);
    return next;
  }
}
