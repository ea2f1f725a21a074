import { type Context, createTraceState, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { readTraceContext, type TraceContext } from "../../core/trace-context.ts";

/** The context under which a span begins that belongs to a trace from elsewhere; the root where there is none. */
export function toParentContext(value: TraceContext | undefined): Context {
  const read = readTraceContext(value);
  if (read === undefined) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = ""] = read.traceparent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(read.tracestate === undefined ? {} : { traceState: createTraceState(read.tracestate) }),
  });
}
