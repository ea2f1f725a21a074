import type { ResponseEvidence } from "./evidence.ts";

/**
 * Find the wait that a provider asks for, in milliseconds from now: `retry-after-ms`, `retry-after` in seconds or as a date, the
 * reset of a rate limit that is used up, or the provider's own sentence. The first of these that can be read counts. Undefined if
 * none is given; never negative. `text` is the provider's error alone: a model's own words may well say "wait an hour".
 */
export function toRetryAfterMs(
  headers: ResponseEvidence["headers"],
  text: string,
  nowMs: number,
): number | undefined {
  // The server's own clock, where it tells, is the one that its dates are meant by.
  const clockMs = toDateMs(headers.date) ?? nowMs;
  const waitMs =
    toNumber(headers["retry-after-ms"]) ??
    fromRetryAfter(headers["retry-after"], clockMs) ??
    fromResets(headers, clockMs) ??
    fromText(text);
  return waitMs === undefined ? undefined : Math.min(Math.max(0, Math.ceil(waitMs)), Number.MAX_SAFE_INTEGER);
}

function fromRetryAfter(value: string | undefined, clockMs: number): number | undefined {
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const dateMs = toDateMs(value);
  return dateMs === undefined ? undefined : dateMs - clockMs;
}

/**
 * A reset counts only where its own limit has nothing left: the others tell of limits that are not in the way. Of several that
 * are used up the last to come back counts.
 */
function fromResets(headers: Readonly<Record<string, string>>, clockMs: number): number | undefined {
  const waits: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const match = /^(x-ratelimit|ratelimit|anthropic-ratelimit)(?:-(.+))?-reset(?:-(.+))?$/.exec(name);
    if (match === null) continue;
    const [, family, before, after] = match;
    const remaining = [before, after].flatMap((scope) =>
      scope === undefined
        ? [`${family}-remaining`]
        : [`${family}-remaining-${scope}`, `${family}-${scope}-remaining`],
    );
    const left = remaining.map((key) => toNumber(headers[key])).find((count) => count !== undefined);
    const wait = left === 0 ? fromReset(value, clockMs) : undefined;
    if (wait !== undefined) waits.push(wait);
  }
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function fromReset(value: string, clockMs: number): number | undefined {
  const number = toNumber(value);
  if (number === undefined) return toDurationMs(value) ?? minus(toDateMs(value), clockMs);
  if (number >= 1e12) return number - clockMs;
  return number >= 1e9 ? number * 1000 - clockMs : number * 1000;
}

const unit = "(?:milliseconds?|msecs?|ms|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])";
const duration = `(?:\\d+(?:\\.\\d+)?\\s*${unit}[\\s,]*(?:and\\s+)?)+`;
const sentences = [
  new RegExp(`(?:try again|retry|wait|available|reset[s]?)[^.\\d\\n]{0,40}?(${duration})`, "i"),
  new RegExp(`"retryDelay"\\s*:\\s*"(${duration})"`, "i"),
];

function fromText(text: string): number | undefined {
  for (const sentence of sentences) {
    const found = sentence.exec(text)?.[1];
    const wait = found === undefined ? undefined : toDurationMs(found);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** Read `20s`, `6m0s`, `1h 2m`, `450ms`, `20 seconds`. */
function toDurationMs(text: string): number | undefined {
  const parts = [...text.matchAll(new RegExp(`(\\d+(?:\\.\\d+)?)\\s*(${unit})`, "gi"))];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, count, name]) => sum + Number(count) * toUnitMs(name ?? ""), 0);
}

function toUnitMs(name: string): number {
  const word = name.toLowerCase();
  if (word.startsWith("ms") || word.startsWith("milli")) return 1;
  if (word.startsWith("h")) return 3_600_000;
  return word.startsWith("m") ? 60_000 : 1000;
}

function toNumber(value: string | undefined): number | undefined {
  const text = value?.trim() ?? "";
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function toDateMs(value: string | undefined): number | undefined {
  const dateMs = value === undefined || !/[a-z]|:/i.test(value) ? Number.NaN : Date.parse(value);
  return Number.isFinite(dateMs) ? dateMs : undefined;
}

function minus(left: number | undefined, right: number): number | undefined {
  return left === undefined ? undefined : left - right;
}
