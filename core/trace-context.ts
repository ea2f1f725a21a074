import { z } from "zod";

/** The bound that the W3C recommendation asks every participant to keep up to. */
const MAX_TRACESTATE_CHARACTERS = 512;

const traceContextSchema = z.object({
  /** Version 00: trace, span and flags in lower-case hex, neither of the ids all zeros. */
  traceparent: z.string().regex(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/),
  /** Travels in a header and in an environment: printable ASCII alone. */
  tracestate: z
    .string()
    .regex(/^[\x20-\x7e]+$/)
    .max(MAX_TRACESTATE_CHARACTERS)
    .optional()
    .catch(undefined),
});

/** Where in a distributed trace something happens, as W3C Trace Context writes it. */
export type TraceContext = z.infer<typeof traceContextSchema>;

/**
 * Read a trace context that came from elsewhere; undefined for anything that is none.
 *
 * Telemetry never decides about work: a malformed context is passed over and never refuses a call.
 */
export function readTraceContext(value: unknown): TraceContext | undefined {
  const parsed = traceContextSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { traceparent, tracestate } = parsed.data;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/** What OpenTelemetry knows of a span's place: its `SpanContext`, as far as it travels. */
interface SpanPlace {
  traceId: string;
  spanId: string;
  traceFlags: number;
  traceState?: { serialize(): string } | undefined;
}

/** Write down where a span is, so that it can travel; undefined for a span of no trace. */
export function toTraceContext({
  traceId,
  spanId,
  traceFlags,
  traceState,
}: SpanPlace): TraceContext | undefined {
  const flags = traceFlags.toString(16).padStart(2, "0");
  return readTraceContext({
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    tracestate: traceState?.serialize() || undefined,
  });
}

/** The same as a field of a workflow's or an activity's input. */
export const traceFieldSchema = traceContextSchema.optional().catch(undefined);
