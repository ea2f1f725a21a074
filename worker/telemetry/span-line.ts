import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { escapeControls } from "../../core/text.ts";

/** Write a span as a line of JSON that a terminal may show. */
export function toSpanLine(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  const { name, attributes, status, parentSpanContext } = span;
  const parent = parentSpanContext?.spanId;
  const seconds = span.duration[0] + span.duration[1] / 1e9;
  const fields = { type: "span", name, traceId, spanId, parent, seconds, attributes, status };
  return `${escapeControls(JSON.stringify(fields))}\n`;
}

/** Tell a span from all else that a worker writes beside it. */
export function isSpanLine(line: string): boolean {
  return line.startsWith('{"type":"span",');
}
