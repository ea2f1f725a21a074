import {
  ConfigurationError,
  type Environment,
  readFirst,
  readPairs,
  readText,
  readWhole,
  readWord,
  refuseValue,
} from "./environment.ts";
import { type PassOver, readExporters, toPassOver } from "./exporters.ts";
import { readSampler, type SamplerSettings } from "./sampler-settings.ts";

/** Where spans go and how. */
export interface TraceSettings {
  exporters: ("otlp" | "console")[];
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
  | {
      exporter: "prometheus";
      host: string;
      port: number;
      /** Neither the flag nor an exporter's name asked for it: what can't be served is said, and work goes on. */
      isOptional: boolean;
    }
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
  /** What was asked for by variables alone, perhaps for other programs, and is passed over here. */
  warnings: string[];
}

const DEFAULT_ENDPOINT = "http://localhost:4318";
const DEFAULT_PROMETHEUS = { host: "localhost", port: 9464 };
/** A worker that serves one run lives for a minute or two, and its last numbers leave with the last push. */
const DEFAULT_METRIC_INTERVAL_MS = 1_000;
const MAX_MILLISECONDS = 3_600_000;

const traceExporters = {
  words: ["otlp", "console"],
  others: ["zipkin", "jaeger", "logging", "otlp/stdout"],
} as const;
const metricExporters = {
  words: ["prometheus", "otlp"],
  others: ["console", "logging", "otlp/stdout"],
} as const;

/**
 * Read from the environment, by OpenTelemetry's usual variables, what is traced and measured. Off unless a variable or the flag asks for it.
 *
 * The variables may be meant for other programs: where an address alone turned a signal on that can't be had, it is off and that is said in `warnings`.
 *
 * @param isAsked whether the flag was given
 * @throws ConfigurationError for a value that can't be understood or met, if the flag or an exporter's name turned its signal on.
 */
export function readTelemetry(environment: Environment, isAsked: boolean): TelemetrySettings {
  const warnings: string[] = [];
  const passOver = toPassOver(isAsked, warnings);
  const disabled = readText(environment, "OTEL_SDK_DISABLED")?.toLowerCase();
  const off = {
    serviceName: "temporal-subagents",
    resource: {},
    traces: undefined,
    metrics: undefined,
    warnings,
  };
  if (disabled === "true") return off;
  const chosen = {
    traces: readExporters(environment, "OTEL_TRACES_EXPORTER", traceExporters, passOver),
    metrics: readExporters(environment, "OTEL_METRICS_EXPORTER", metricExporters, passOver),
  };
  const isNamed = (words: string[] | undefined) => isAsked || (words?.length ?? 0) > 0;
  const traces = orOff("traces", isNamed(chosen.traces), warnings, () =>
    readTraces(environment, isAsked, chosen.traces, passOver),
  );
  const metrics = orOff("metrics", isNamed(chosen.metrics), warnings, () =>
    readMetrics(environment, isAsked, chosen.metrics, passOver),
  );
  if (traces === undefined && metrics === undefined) return off;
  if (disabled !== undefined && disabled !== "false")
    warnings.push(`OTEL_SDK_DISABLED is ${JSON.stringify(disabled)}: only true turns traces and metrics off`);
  const isAnyNamed = isNamed(chosen.traces) || isNamed(chosen.metrics);
  const read = () => readPairs(environment, "OTEL_RESOURCE_ATTRIBUTES");
  const resource = orOff("resource attributes", isAnyNamed, warnings, read) ?? {};
  const named = readText(environment, "OTEL_SERVICE_NAME") ?? resource["service.name"];
  return { serviceName: named ?? off.serviceName, resource, traces, metrics, warnings };
}

/** What can't be had is refused where it was asked for by name, and else left out and said. */
function orOff<Setting>(
  what: string,
  isNamed: boolean,
  warnings: string[],
  read: () => Setting | undefined,
): Setting | undefined {
  try {
    return read();
  } catch (error) {
    if (isNamed || !(error instanceof ConfigurationError)) throw error;
    warnings.push(`no ${what}: ${error.message}`);
    return undefined;
  }
}

function readTraces(
  environment: Environment,
  isAsked: boolean,
  chosen: TraceSettings["exporters"] | undefined,
  passOver: PassOver,
): TraceSettings | undefined {
  const endpoint = readFirst(
    environment,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
  );
  const exporters = chosen ?? (isAsked || endpoint !== undefined ? ["otlp"] : []);
  if (exporters.length === 0) return undefined;
  const isSent = exporters.includes("otlp");
  if (isSent) checkOtlp(environment, "TRACES");
  return {
    exporters,
    url: isSent ? toUrl(environment, "TRACES", "v1/traces") : "",
    sampler: readSampler(environment, passOver),
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

function readMetrics(
  environment: Environment,
  isAsked: boolean,
  chosen: MetricSettings["exporter"][] | undefined,
  passOver: PassOver,
): MetricSettings | undefined {
  // The host alone only says where: containers set it for all that run in them.
  const port = readText(environment, "OTEL_EXPORTER_PROMETHEUS_PORT");
  const isOtlpNamed = readText(environment, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") !== undefined;
  const usual = isOtlpNamed && port === undefined ? "otlp" : "prometheus";
  const isOn = isAsked || isOtlpNamed || port !== undefined;
  const [exporter, ...others] = chosen ?? (isOn ? ([usual] as const) : []);
  if (exporter === undefined) return undefined;
  for (const other of others)
    passOver("OTEL_METRICS_EXPORTER", other, `metrics leave by one way, which is ${exporter}`);
  if (exporter === "prometheus") {
    return {
      exporter,
      host: readText(environment, "OTEL_EXPORTER_PROMETHEUS_HOST") ?? DEFAULT_PROMETHEUS.host,
      port: readWhole(environment, "OTEL_EXPORTER_PROMETHEUS_PORT", 0, 65_535) ?? DEFAULT_PROMETHEUS.port,
      isOptional: !isAsked && chosen === undefined,
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
    temporality: toTemporality(readWord(environment, temporality, ["cumulative", "delta", "lowmemory"])),
  };
}

/** Low memory is delta for all kinds of instruments that there are here. */
function toTemporality(
  preference: "cumulative" | "delta" | "lowmemory" = "cumulative",
): "cumulative" | "delta" {
  return preference === "lowmemory" ? "delta" : preference;
}

type Signal = "TRACES" | "METRICS";

/** Only one protocol is spoken; the other settings are read by the exporter itself, which would pass over what it can't understand. */
function checkOtlp(environment: Environment, signal: Signal): void {
  const both = (name: string) => [`OTEL_EXPORTER_OTLP_${signal}_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
  const protocol = readFirst(environment, ...both("PROTOCOL"));
  if (protocol !== undefined && protocol.value.toLowerCase() !== "http/protobuf")
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
