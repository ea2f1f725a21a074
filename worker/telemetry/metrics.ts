import type { TelemetryOptions } from "@temporalio/worker";
import { histogramBuckets } from "../../core/metrics.ts";
import { findMetricsEndpoint } from "./metrics-endpoint.ts";
import type { MetricSettings, TelemetrySettings } from "./settings.ts";

/** What the SDK's runtime is told of metrics, and where they are to be found. */
export interface MetricsPlan {
  options: NonNullable<TelemetryOptions["metrics"]>;
  url: string;
  warning: string | undefined;
}

/**
 * Plan how a worker's metrics leave it: the SDK's own and ours by one way, times in seconds, with buckets that fit the limits that they are read against.
 *
 * @throws ConfigurationError where nothing can listen at the address named.
 */
export async function planMetrics(
  settings: TelemetrySettings & { metrics: MetricSettings },
): Promise<MetricsPlan> {
  const { metrics, serviceName } = settings;
  const shared = { useSecondsForDurations: true, histogramBucketOverrides: histogramBuckets };
  if (metrics.exporter === "prometheus") {
    const { bindAddress, url, warning } = await findMetricsEndpoint(metrics.host, metrics.port);
    const prometheus = { bindAddress, countersTotalSuffix: true, unitSuffix: true, ...shared };
    return { options: { attachServiceName: false, prometheus }, url, warning };
  }
  const { url, headers, intervalMs, temporality } = metrics;
  const otel = { url, http: true, headers, metricsExportInterval: intervalMs, temporality, ...shared };
  const globalTags = { ...settings.resource, "service.name": serviceName };
  return { options: { attachServiceName: false, globalTags, otel }, url, warning: undefined };
}
