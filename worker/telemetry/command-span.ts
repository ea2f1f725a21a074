import { SpanStatusCode, trace } from "@opentelemetry/api";
import { readOwnPackage } from "../../activities/own-package.ts";
import { toParentContext } from "../../activities/telemetry/span-context.ts";
import { readTraceContext, type TraceContext, toTraceContext } from "../../core/trace-context.ts";
import type { TelemetrySettings, TraceSettings } from "./settings.ts";
import { startTracing } from "./tracing.ts";

/** The span of a process that is one command. */
export interface CommandSpan {
  context: TraceContext | undefined;
  set(key: string, value: string): void;
  /** End it and send what is left; at most a second. */
  end(exit: number | string, isError: boolean): Promise<void>;
}

/** Trace this process, and begin the span of its command under the trace that it was started in, if that is one. */
export async function startCommandSpan(
  name: string,
  parent: unknown,
  settings: TelemetrySettings & { traces: TraceSettings },
  log: (line: string) => void,
): Promise<CommandSpan> {
  const tracing = await startTracing(settings, log);
  const context = toParentContext(readTraceContext(parent));
  const tracer = trace.getTracer("temporal-subagents", readOwnPackage().version);
  const span = tracer.startSpan(`subagents ${name}`, {}, context);
  return {
    context: toTraceContext(span.spanContext()),
    set: (key, value) => void span.setAttribute(key, value),
    async end(exit, isError) {
      span.setAttribute("subagents.exit_code", exit);
      if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      await tracing.end();
    },
  };
}
