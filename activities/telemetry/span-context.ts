import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  trace,
} from "@opentelemetry/api";
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

/** What travels to where a span's children are made; undefined for a span of no trace. */
export function toTraceContext(span: Span): TraceContext | undefined {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return undefined;
  const flags = context.traceFlags.toString(16).padStart(2, "0");
  return readTraceContext({
    traceparent: `00-${context.traceId}-${context.spanId}-${flags}`,
    tracestate: context.traceState?.serialize() || undefined,
  });
}
