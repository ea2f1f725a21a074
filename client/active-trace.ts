import { readTraceContext, type TraceContext } from "../core/trace-context.ts";

/** Read the trace of the caller's active OpenTelemetry span; undefined where the host traces nothing. */
export async function readActiveTrace(): Promise<TraceContext | undefined> {
  // The active span is of this moment; the API itself is loaded by calls that begin work alone.
  const { trace } = await import("@opentelemetry/api");
  const context = trace.getActiveSpan()?.spanContext();
  if (context === undefined) return undefined;
  const flags = context.traceFlags.toString(16).padStart(2, "0");
  return readTraceContext({
    traceparent: `00-${context.traceId}-${context.spanId}-${flags}`,
    tracestate: context.traceState?.serialize() || undefined,
  });
}

/** The field of a call that carries a trace; none where there is no trace. */
export function toTraceField(trace: TraceContext | undefined): { trace?: TraceContext } {
  return trace === undefined ? {} : { trace };
}
