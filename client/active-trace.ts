import { trace } from "@opentelemetry/api";
import { type TraceContext, toTraceContext } from "../core/trace-context.ts";

/** Read the trace of the caller's active OpenTelemetry span; undefined where the host traces nothing, or its SDK throws: a call is made all the same. */
export function readActiveTrace(): TraceContext | undefined {
  try {
    const context = trace.getActiveSpan()?.spanContext();
    return context === undefined ? undefined : toTraceContext(context);
  } catch {
    return undefined;
  }
}

/** The field of a call that carries a trace; none where there is no trace. */
export function toTraceField(context: TraceContext | undefined): { trace?: TraceContext } {
  return context === undefined ? {} : { trace: context };
}
