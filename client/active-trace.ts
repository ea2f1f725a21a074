import { trace } from "@opentelemetry/api";
import { readTraceContext, type TraceContext } from "../core/trace-context.ts";

/** Read the trace of the caller's active OpenTelemetry span; undefined where the host traces nothing. */
export function readActiveTrace(): TraceContext | undefined {
  const context = trace.getActiveSpan()?.spanContext();
  if (context === undefined) return undefined;
  const flags = context.traceFlags.toString(16).padStart(2, "0");
  return readTraceContext({
    traceparent: `00-${context.traceId}-${context.spanId}-${flags}`,
    tracestate: context.traceState?.serialize() || undefined,
  });
}

/** The field of a call that carries a trace; none where there is no trace. */
export function toTraceField(context: TraceContext | undefined): { trace?: TraceContext } {
  return context === undefined ? {} : { trace: context };
}
