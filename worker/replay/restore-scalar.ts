/** Bounds of whole numbers, by the types of fields. */
const bounds: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};
const NANOS_DIGITS = 9;

/**
 * Bring a field's JSON into the value that its message takes: bytes from base64, 64-bit numbers as text, which keeps all of their digits.
 *
 * @throws Error that names the field.
 */
export function restoreScalar(type: string, value: unknown, field: string): unknown {
  const range = bounds[type];
  if (range !== undefined) return restoreInteger(range, value, field);
  switch (type) {
    case "bool":
      if (typeof value === "boolean") return value;
      break;
    case "string":
      if (typeof value === "string") return value;
      break;
    case "bytes":
      // Either alphabet, with or without its padding.
      if (typeof value === "string" && /^[\w+/-]*={0,2}$/.test(value)) return Buffer.from(value, "base64");
      break;
    default:
      if (isNumber(value)) return Number(value);
  }
  throw new Error(`${field}: expected ${type}: ${JSON.stringify(value)}`);
}

function restoreInteger([least, most]: readonly [bigint, bigint], value: unknown, field: string): unknown {
  const isWhole = typeof value === "number" ? Number.isInteger(value) : /^-?\d{1,20}$/.test(String(value));
  if (!isWhole || (typeof value !== "number" && typeof value !== "string")) {
    throw new Error(`${field}: expected a whole number: ${JSON.stringify(value)}`);
  }
  const number = BigInt(value);
  if (number < least || number > most) throw new Error(`${field}: out of range: ${value}`);
  return most > 2n ** 32n ? String(number) : Number(number);
}

function isNumber(value: unknown): boolean {
  if (typeof value === "number") return true;
  return (
    typeof value === "string" && (value === "NaN" || (value.trim() !== "" && !Number.isNaN(Number(value))))
  );
}

/** `2026-01-31T12:00:00.123456789Z`, or with an offset. */
export function restoreTimestamp(value: unknown): { seconds: string; nanos: number } {
  const [, time, fraction = "", zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i.exec(String(value)) ?? [];
  const ms = Date.parse(`${time}${zone}`);
  if (Number.isNaN(ms))
    throw new Error(`expected a time such as 2026-01-31T12:00:00Z: ${JSON.stringify(value)}`);
  return { seconds: String(ms / 1000), nanos: toNanos(fraction) };
}

/** `1.5s`. Seconds and nanoseconds have one sign. */
export function restoreDuration(value: unknown): { seconds: string; nanos: number } {
  const [, sign, seconds, fraction = ""] = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(String(value)) ?? [];
  if (seconds === undefined) throw new Error(`expected a duration such as 1.5s: ${JSON.stringify(value)}`);
  const nanos = toNanos(fraction);
  return sign === "-" ? { seconds: `-${seconds}`, nanos: -nanos } : { seconds, nanos };
}

function toNanos(fraction: string): number {
  return Number(fraction.padEnd(NANOS_DIGITS, "0"));
}
