/**
 * A payload in base64, also where it was written down readable: as its encoding and its value, or as its value alone. JSON survives that, which is
 * what our workflows speak; a value alone is taken for JSON.
 */
export function restorePayload(value: unknown): unknown {
  if (!isObject(value) || !isObject(value.metadata)) return encodeJson("json/plain", value);
  const { encoding } = value.metadata;
  // Base64 of an encoding never reads like one.
  if (typeof encoding !== "string" || !encoding.includes("/") || !/^(json|binary)\//.test(encoding))
    return value;
  const isJson = encoding.startsWith("json/");
  if (!isJson && value.data !== null && value.data !== undefined) return value;
  const metadata = Object.fromEntries(
    Object.entries(value.metadata).map(([key, entry]) => [key, toBase64(String(entry))]),
  );
  return isJson ? { metadata, data: toBase64(JSON.stringify(value.data ?? null)) } : { metadata };
}

function encodeJson(encoding: string, value: unknown): unknown {
  return {
    metadata: { encoding: toBase64(encoding) },
    data: toBase64(JSON.stringify(value ?? null)),
  };
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
