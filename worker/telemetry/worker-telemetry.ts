import { setTimeout as sleep } from "node:timers/promises";
import { installWorkerRuntime } from "../runtime.ts";
import { ConfigurationError } from "./environment.ts";
import { type MetricsPlan, planMetrics } from "./metrics.ts";
import type { MetricSettings, TelemetrySettings, TraceSettings } from "./settings.ts";
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
  const warnings = [...settings.warnings];
  const plan =
    metrics === undefined ? undefined : await installIfItCan({ ...settings, metrics }, log, warnings);
  if (plan?.warning !== undefined) warnings.push(plan.warning);
  if (plan === undefined) installWorkerRuntime(log);
  const tracing = traces === undefined ? undefined : await startTracing({ ...settings, traces }, log);
  return {
    places: {
      ...(plan === undefined ? {} : { metrics: plan.url }),
      ...(traces === undefined ? {} : { traces: toPlace(traces) }),
    },
    warnings,
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

function toPlace({ exporters, url }: TraceSettings): string {
  return exporters.map((exporter) => (exporter === "console" ? "console" : url)).join(", ");
}

async function installIfItCan(
  settings: TelemetrySettings & { metrics: MetricSettings },
  log: (line: string) => void,
  warnings: string[],
): Promise<MetricsPlan | undefined> {
  const { metrics } = settings;
  try {
    return await installWithMetrics(settings, log);
  } catch (error) {
    const mayBeLeftOut = metrics.exporter === "prometheus" && metrics.isOptional;
    if (!mayBeLeftOut || !(error instanceof ConfigurationError)) throw error;
    warnings.push(`no metrics: ${error.message}`);
    return undefined;
  }
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
