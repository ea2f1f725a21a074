import {
  type Environment,
  readFirst,
  readPairs,
  readSwitch,
  readText,
  readWhole,
  readWord,
  refuseValue,
} from "./environment.ts";
import { readSampler, type SamplerSettings } from "./sampler-settings.ts";

/** Where spans go and how. */
export interface TraceSettings {
  exporter: "otlp" | "console";
  url: string;
  sampler: SamplerSettings;
  /** Spans in memory: numbers that are not given are the SDK's own defaults. */
  batch: {
    scheduledDelayMillis?: number;
    exportTimeoutMillis?: number;
    maxQueueSize?: number;
    maxExportBatchSize?: number;
  };
}

/** How metrics leave the worker. */
export type MetricSettings =
  | { exporter: "prometheus"; host: string; port: number }
  | {
      exporter: "otlp";
      url: string;
      headers: Record<string, string>;
      intervalMs: number;
      temporality: "cumulative" | "delta";
    };

export interface TelemetrySettings {
  serviceName: string;
  resource: Record<string, string>;
  traces: TraceSettings | undefined;
  metrics: MetricSettings | undefined;
}

const DEFAULT_ENDPOINT = "http://localhost:4318";
const DEFAULT_PROMETHEUS = { host: "localhost", port: 9464 };
/** A worker that serves one run lives for a minute or two, and its last numbers leave with the last push. */
const DEFAULT_METRIC_INTERVAL_MS = 1_000;
const MAX_MILLISECONDS = 3_600_000;

/**
 * Read from the environment, by OpenTelemetry's usual variables, what is traced and measured. Off unless a variable or the flag asks for it.
 *
 * @param isAsked whether the flag was given
 * @throws ConfigurationError for a value that can't be understood, if the signal that it is for is on.
 */
export function readTelemetry(environment: Environment, isAsked: boolean): TelemetrySettings {
  const isOff = readSwitch(environment, "OTEL_SDK_DISABLED");
  const traces = isOff ? undefined : readTraces(environment, isAsked);
  const metrics = isOff ? undefined : readMetrics(environment, isAsked);
  const isOn = traces !== undefined || metrics !== undefined;
  const resource = isOn ? readPairs(environment, "OTEL_RESOURCE_ATTRIBUTES") : {};
  const named = readText(environment, "OTEL_SERVICE_NAME") ?? resource["service.name"];
  return { serviceName: named ?? "temporal-subagents", resource, traces, metrics };
}

function readTraces(environment: Environment, isAsked: boolean): TraceSettings | undefined {
  const chosen = readWord(environment, "OTEL_TRACES_EXPORTER", ["otlp", "console", "none"]);
  const endpoint = readFirst(
    environment,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  );
  const exporter = chosen ?? (isAsked || endpoint !== undefined ? "otlp" : "none");
  if (exporter === "none") return undefined;
  if (exporter === "otlp") checkOtlp(environment, "TRACES");
  return {
    exporter,
    url: toUrl(environment, "TRACES", "v1/traces"),
    sampler: readSampler(environment),
    batch: readBatch(environment),
  };
}

function readBatch(environment: Environment): TraceSettings["batch"] {
  const delay = readWhole(environment, "OTEL_BSP_SCHEDULE_DELAY", 0, MAX_MILLISECONDS);
  const timeout = readWhole(environment, "OTEL_BSP_EXPORT_TIMEOUT", 1, MAX_MILLISECONDS);
  const queue = readWhole(environment, "OTEL_BSP_MAX_QUEUE_SIZE", 1, 1_000_000);
  const size = readWhole(environment, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1, 1_000_000);
  return {
    ...(delay === undefined ? {} : { scheduledDelayMillis: delay }),
    ...(timeout === undefined ? {} : { exportTimeoutMillis: timeout }),
    ...(queue === undefined ? {} : { maxQueueSize: queue }),
    ...(size === undefined ? {} : { maxExportBatchSize: size }),
  };
}

function readMetrics(environment: Environment, isAsked: boolean): MetricSettings | undefined {
  const chosen = readWord(environment, "OTEL_METRICS_EXPORTER", ["prometheus", "otlp", "none"]);
  const isPrometheusNamed =
    readFirst(environment, "OTEL_EXPORTER_PROMETHEUS_HOST", "OTEL_EXPORTER_PROMETHEUS_PORT") !== undefined;
  const isOtlpNamed = readText(environment, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") !== undefined;
  const usual = isOtlpNamed && !isPrometheusNamed ? "otlp" : "prometheus";
  const exporter = chosen ?? (isAsked || isOtlpNamed || isPrometheusNamed ? usual : "none");
  if (exporter === "none") return undefined;
  if (exporter === "prometheus") {
    return {
      exporter,
      host: readText(environment, "OTEL_EXPORTER_PROMETHEUS_HOST") ?? DEFAULT_PROMETHEUS.host,
      port: readWhole(environment, "OTEL_EXPORTER_PROMETHEUS_PORT", 0, 65_535) ?? DEFAULT_PROMETHEUS.port,
    };
  }
  checkOtlp(environment, "METRICS");
  const interval = readWhole(environment, "OTEL_METRIC_EXPORT_INTERVAL", 100, MAX_MILLISECONDS);
  const temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
  return {
    exporter,
    url: toUrl(environment, "METRICS", "v1/metrics"),
    headers: {
      ...readPairs(environment, "OTEL_EXPORTER_OTLP_HEADERS", { isSecret: true }),
      ...readPairs(environment, "OTEL_EXPORTER_OTLP_METRICS_HEADERS", { isSecret: true }),
    },
    intervalMs: interval ?? DEFAULT_METRIC_INTERVAL_MS,
    temporality: readWord(environment, temporality, ["cumulative", "delta"]) ?? "cumulative",
  };
}

type Signal = "TRACES" | "METRICS";

/** Only one protocol is spoken; the other settings are read by the exporter itself, which would pass over what it can't understand. */
function checkOtlp(environment: Environment, signal: Signal): void {
  const both = (name: string) => [`OTEL_EXPORTER_OTLP_${signal}_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
  const protocol = readFirst(environment, ...both("PROTOCOL"));
  if (protocol !== undefined && protocol.value !== "http/protobuf")
    refuseValue(
      protocol.name,
      protocol.value,
      "only http/protobuf is supported (a collector's usual port for it is 4318)",
    );
  for (const name of both("TIMEOUT")) readWhole(environment, name, 1, MAX_MILLISECONDS);
  for (const name of both("COMPRESSION")) readWord(environment, name, ["none", "gzip"]);
  for (const name of both("HEADERS")) readPairs(environment, name, { isSecret: true });
}

/** A signal's own address stands as it is; the common one gets the signal's path. */
function toUrl(environment: Environment, signal: Signal, path: string): string {
  const own = readFirst(environment, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`);
  if (own !== undefined) return checkUrl(own.name, own.value).href;
  const common = readFirst(environment, "OTEL_EXPORTER_OTLP_ENDPOINT");
  const root = checkUrl("OTEL_EXPORTER_OTLP_ENDPOINT", common?.value ?? DEFAULT_ENDPOINT);
  root.pathname = `${root.pathname.replace(/\/$/, "")}/${path}`;
  return root.href;
}

function checkUrl(name: string, value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  return refuseValue(name, value, `it must be an address such as ${DEFAULT_ENDPOINT}`);
}
