import type { History } from "./history.ts";

/** What Temporal's default converter reads. */
const usual: ReadonlySet<string> = new Set([
  "json/plain",
  "json/protobuf",
  "binary/null",
  "binary/plain",
  "binary/protobuf",
]);
const MAX_DEPTH = 40;

/** Find an encoding of payloads that the default converter can't read: encrypted, compressed or stored elsewhere. */
export function findForeignEncoding(history: History): string | undefined {
  return find(history.events, 0);
}

function find(value: unknown, depth: number): string | undefined {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || depth > MAX_DEPTH)
    return undefined;
  const encoding = readEncoding(value);
  if (encoding !== undefined) return usual.has(encoding) ? undefined : encoding;
  for (const entry of Object.values(value)) {
    const found = find(entry, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A payload is known by the encoding in its metadata. */
function readEncoding(value: object): string | undefined {
  const encoding =
    "metadata" in value ? (value.metadata as Record<string, unknown> | null)?.encoding : undefined;
  return encoding instanceof Uint8Array ? new TextDecoder().decode(encoding) : undefined;
}
