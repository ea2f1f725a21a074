import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { SamplerSettings } from "./sampler-settings.ts";
import type { TelemetrySettings, TraceSettings } from "./settings.ts";
import { toSpanLine } from "./span-line.ts";

/** Spans of this process on their way. */
export interface Tracing {
  /** Send what is left and end; at most a second, whatever the collector does. */
  end(): Promise<void>;
}

const END_PATIENCE_MS = 1_000;

/**
 * Register OpenTelemetry's SDK for this process: from here on every span is made and sent. Loads the SDK, which a process that traces nothing never does.
 *
 * A collector that is away costs nothing but its spans, and is said once until it has taken some again.
 */
export async function startTracing(
  settings: TelemetrySettings & { traces: TraceSettings },
  log: (line: string) => void,
): Promise<Tracing> {
  const [{ trace }, { setGlobalErrorHandler }, sdk] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/core"),
    import("@opentelemetry/sdk-trace"),
  ]);
  // What can't be sent is said by the exporter's guard, once.
  setGlobalErrorHandler(() => undefined);
  const guards: GuardedExporter[] = [];
  const exporters: SpanExporter[] = [];
  for (const kind of settings.traces.exporters) {
    if (kind === "console") exporters.push(createLineExporter());
    else guards.push(guardExporter(await createOtlpExporter(settings.traces), settings.traces, log));
  }
  const provider = new sdk.TracerProvider({
    resource: await createResource(settings),
    sampler: await createSampler(settings.traces.sampler),
    spanProcessors: [...guards, ...exporters].map(
      (exporter) => new sdk.BatchSpanProcessor({ exporter, ...settings.traces.batch }),
    ),
  });
  trace.setGlobalTracerProvider(provider);
  return {
    async end() {
      const ended = provider.shutdown().then(
        () => true,
        () => true,
      );
      const isOver = await Promise.race([ended, sleep(END_PATIENCE_MS, false, { ref: false })]);
      if (isOver) return;
      for (const guard of guards) guard.sayAway(`no answer within ${END_PATIENCE_MS / 1000} s`);
    },
  };
}

/** What a process is, for a reader of its spans. Its command line holds prompts, and stays out. */
async function createResource({ serviceName, resource }: TelemetrySettings) {
  const { defaultResource, resourceFromAttributes } = await import("@opentelemetry/resources");
  const own = { "host.name": hostname(), "process.pid": process.pid };
  const named = { ...own, ...resource, "service.name": serviceName };
  return defaultResource().merge(resourceFromAttributes(named));
}

async function createSampler({ isParentBased, ratio }: SamplerSettings) {
  const { ParentBasedSampler, TraceIdRatioBasedSampler } = await import("@opentelemetry/sdk-trace");
  const root = new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

async function createOtlpExporter({ url }: TraceSettings): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter({ url });
}

/** Spans as JSON lines on standard error: standard output is a command's own. */
function createLineExporter(): SpanExporter {
  return {
    export(spans, done) {
      for (const span of spans) process.stderr.write(toSpanLine(span));
      done({ code: 0 });
    },
    shutdown: async () => undefined,
  };
}

type GuardedExporter = SpanExporter & { sayAway(reason: string): void };

/** Say what keeps spans from being sent, once until some were taken again. */
function guardExporter(
  exporter: SpanExporter,
  { url }: TraceSettings,
  log: (line: string) => void,
): GuardedExporter {
  let isAway = false;
  const sayAway = (reason: string) => {
    if (!isAway) log(`spans can't be sent to ${toAddress(url)}: ${reason}; the work goes on without them`);
    isAway = true;
  };
  return {
    sayAway,
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === 0) isAway = false;
        else sayAway(result.error?.message ?? "no reason given");
        done(result);
      });
    },
    forceFlush: async () => await exporter.forceFlush?.(),
    shutdown: async () => await exporter.shutdown(),
  };
}

/** Without a name and a password that may be part of it. */
function toAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
