import proto from "@temporalio/proto";
import patchedRoot from "@temporalio/proto/lib/patch-protobuf-root.js";
import protobuf, { type Field, type Type } from "protobufjs";

/**
 * Tools write histories as JSON in more than one way. Bring what they write into the one form that the SDK reads: enumerations by their full names,
 * payloads in base64. Unknown fields stay; the SDK skips them.
 */
export function restoreHistoryJson(history: unknown): unknown {
  return restoreMessage(historyType, history);
}

const root = patchedRoot.patchProtobufRoot(proto) as unknown as { lookupType(path: string): Type };
const historyType = root.lookupType("temporal.api.history.v1.History");
const PAYLOAD = ".temporal.api.common.v1.Payload";
const PAYLOADS = ".temporal.api.common.v1.Payloads";
/** Well-known types have a JSON of their own. */
const WELL_KNOWN = ".google.protobuf.";

function restoreMessage(type: Type, value: unknown): unknown {
  if (type.fullName === PAYLOAD) return restorePayload(value);
  if (type.fullName === PAYLOADS && Array.isArray(value)) return { payloads: value.map(restorePayload) };
  if (type.fullName.startsWith(WELL_KNOWN) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      const field = type.fields[key];
      return [key, field === undefined ? entry : restoreField(field.resolve(), entry)];
    }),
  );
}

function restoreField(field: Field, value: unknown): unknown {
  if (field.repeated) return Array.isArray(value) ? value.map((entry) => restoreOne(field, entry)) : value;
  if (!field.map) return restoreOne(field, value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, restoreOne(field, entry)]));
}

function restoreOne({ resolvedType }: Field, value: unknown): unknown {
  if (resolvedType instanceof protobuf.Type) return restoreMessage(resolvedType, value);
  if (resolvedType instanceof protobuf.Enum) return restoreEnum(Object.keys(resolvedType.values), value);
  return value;
}

/** Temporal Web used to write `TimerStarted` for EVENT_TYPE_TIMER_STARTED. */
function restoreEnum(names: readonly string[], value: unknown): unknown {
  if (typeof value !== "string" || names.includes(value)) return value;
  const ending = `_${value.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase()}`;
  // The shortest: _FAILED ends more names than the one that is meant.
  const [name] = names
    .filter((name) => name.endsWith(ending))
    .toSorted((left, right) => left.length - right.length);
  return name ?? value;
}

/**
 * A payload in base64, also where it was written down readable: as its encoding and its value, or as its value alone. JSON survives that, which is
 * what our workflows speak; a value alone is taken for JSON.
 */
function restorePayload(value: unknown): unknown {
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
