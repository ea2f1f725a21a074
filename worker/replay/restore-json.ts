import { restorePayload } from "./restore-payload.ts";
import { restoreDuration, restoreScalar, restoreTimestamp } from "./restore-scalar.ts";

/**
 * A message's description as protobufjs has it. It is known by its shape, not by its class: a product may have several copies of protobufjs, and what
 * one has made is no instance of another's classes.
 */
export interface MessageType {
  fullName: string;
  fields: Readonly<Record<string, Field>>;
}

interface EnumType {
  values: Readonly<Record<string, number>>;
}

interface Field {
  name: string;
  fullName: string;
  type: string;
  repeated: boolean;
  map: boolean;
  partOf?: { name: string } | null;
  protoName?: string;
  resolve(): Field;
  resolvedType: MessageType | EnumType | null;
}

const PAYLOAD = ".temporal.api.common.v1.Payload";
const PAYLOADS = ".temporal.api.common.v1.Payloads";

/**
 * Bring a message's JSON into what the message is made of: enumerations as numbers, bytes, whole numbers in full, times as seconds and nanoseconds.
 * Tools write histories in more than one way; all of them are taken. Fields and names of a later version are left out.
 *
 * @throws Error that names the field that can't be read.
 */
export function restoreMessage(type: MessageType, value: unknown): Record<string, unknown> {
  if (type.fullName === ".google.protobuf.Timestamp" && !isObject(value)) return restoreTimestamp(value);
  if (type.fullName === ".google.protobuf.Duration" && !isObject(value)) return restoreDuration(value);
  const json = toUsualForm(type, value);
  if (!isObject(json)) throw new Error(`${type.fullName}: expected object: ${JSON.stringify(json)}`);
  const message: Record<string, unknown> = {};
  const taken = new Map<string, string>();
  for (const [key, entry] of Object.entries(json)) {
    const field = findField(type, key);
    if (field === undefined || entry === null) continue;
    const restored = restoreField(field, entry);
    if (restored === undefined) continue;
    const choice = field.partOf?.name ?? field.name;
    if (taken.has(choice)) throw new Error(`${field.fullName}: ${taken.get(choice)} is there too`);
    taken.set(choice, field.name);
    message[field.name] = restored;
  }
  return message;
}

/** Payloads are also written readable, and a list of them without its wrapping. */
function toUsualForm({ fullName }: MessageType, value: unknown): unknown {
  if (fullName === PAYLOAD) return restorePayload(value);
  if (fullName === PAYLOADS && Array.isArray(value)) return { payloads: value };
  return value;
}

function findField({ fields }: MessageType, key: string): Field | undefined {
  if (Object.hasOwn(fields, key)) return fields[key]?.resolve();
  // Names as the protocol has them, with underscores.
  return Object.values(fields)
    .find(({ protoName }) => protoName === key)
    ?.resolve();
}

function restoreField(field: Field, value: unknown): unknown {
  if (field.repeated) {
    if (!Array.isArray(value)) throw new Error(`${field.fullName}: expected array: ${JSON.stringify(value)}`);
    return value.map((entry) => restoreOne(field, entry)).filter((entry) => entry !== undefined);
  }
  if (!field.map) return restoreOne(field, value);
  if (!isObject(value)) throw new Error(`${field.fullName}: expected object: ${JSON.stringify(value)}`);
  const entries = Object.entries(value).map(([key, entry]) => [key, restoreOne(field, entry)]);
  return Object.fromEntries(entries.filter(([, entry]) => entry !== undefined));
}

function restoreOne({ resolvedType, type, fullName }: Field, value: unknown): unknown {
  if (resolvedType === null) return restoreScalar(type, value, fullName);
  return "fields" in resolvedType
    ? restoreMessage(resolvedType, value)
    : restoreEnum(resolvedType.values, value, fullName);
}

/** Temporal Web used to write `TimerStarted` for EVENT_TYPE_TIMER_STARTED. A name that is not known yet is left out. */
function restoreEnum(values: EnumType["values"], value: unknown, fullName: string): number | undefined {
  if (typeof value === "number" && Number.isInteger(value)) return value;
  if (typeof value !== "string") {
    throw new Error(`${fullName}: expected the name or number of a choice: ${JSON.stringify(value)}`);
  }
  if (Object.hasOwn(values, value)) return values[value];
  const ending = `_${value.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase()}`;
  // The shortest: _FAILED ends more names than the one that is meant.
  const [name] = Object.keys(values)
    .filter((name) => name.endsWith(ending))
    .toSorted((left, right) => left.length - right.length);
  return name === undefined ? undefined : values[name];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
