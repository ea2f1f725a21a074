import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { ProviderFailure } from "../../activities/models/failure.ts";
import { toRetryAfterMs } from "../../activities/models/retry-after.ts";
import { MAX_RETRY_DELAY_MS, toRetryDelayMs } from "../../activities/models/retry-delay.ts";
import { MAX_PROVIDER_TRIES } from "../../core/limits.ts";

const now = Date.parse("2026-03-01T12:00:00Z");

describe("the wait that a provider asks for is read from", () => {
  test.each<[string, Record<string, string>, string, number | undefined]>([
    ["retry-after in seconds", { "retry-after": "20" }, "", 20_000],
    ["retry-after in fractions", { "retry-after": "0.5" }, "", 500],
    ["retry-after as a date", { "retry-after": "Sun, 01 Mar 2026 12:00:30 GMT" }, "", 30_000],
    [
      "a date by the server's own clock",
      { "retry-after": "Sun, 01 Mar 2026 13:00:30 GMT", date: "Sun, 01 Mar 2026 13:00:00 GMT" },
      "",
      30_000,
    ],
    ["a date that is over", { "retry-after": "Sun, 01 Mar 2026 11:00:00 GMT" }, "", 0],
    ["retry-after-ms before retry-after", { "retry-after-ms": "1500", "retry-after": "20" }, "", 1500],
    ["a long wait, whatever its size", { "retry-after": "86400" }, "", 86_400_000],
    [
      "the reset of a limit that is used up",
      { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" },
      "",
      360_000,
    ],
    [
      "the last of two resets",
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "450ms",
      },
      "",
      1000,
    ],
    [
      "no reset of a limit with something left",
      { "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "9s" },
      "",
      undefined,
    ],
    [
      "a reset as a moment in seconds",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now / 1000 + 40) },
      "",
      40_000,
    ],
    [
      "a reset as a moment in milliseconds",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now + 40_000) },
      "",
      40_000,
    ],
    [
      "Anthropic's reset",
      {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-03-01T12:01:00Z",
      },
      "",
      60_000,
    ],
    ["the sentence", {}, "Rate limit reached. Please try again in 20s. Visit https://example.com", 20_000],
    ["the sentence in fractions", {}, "Please try again in 1.898s.", 1898],
    ["the sentence in parts", {}, "please retry in 1h 2m 3s", 3_723_000],
    ["the sentence in milliseconds", {}, "try again in 450ms", 450],
    ["the sentence in words", {}, "Retry after 2 minutes and 5 seconds", 125_000],
    [
      "Google's retry info",
      {},
      '{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay": "34s"}',
      34_000,
    ],
    [
      "nothing where nothing is said",
      { "content-type": "text/html" },
      "Something went wrong 3 times",
      undefined,
    ],
    ["the sentence where the header is unreadable", { "retry-after": "soon" }, "try again in 3s", 3000],
  ])("%s", (_name, headers, text, expected) => {
    expect(toRetryAfterMs(headers, text, now)).toBe(expected);
  });

  test("anything: never negative, never infinite, never thrown", () => {
    const names = [
      "retry-after",
      "retry-after-ms",
      "date",
      "x-ratelimit-reset",
      "x-ratelimit-remaining",
      "x-ratelimit-reset-tokens",
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string()), fc.string(), (headers, text) => {
        const wait = toRetryAfterMs(headers, `try again in ${text}`, now);
        expect(wait === undefined || (Number.isSafeInteger(wait) && wait >= 0)).toBe(true);
      }),
    );
  });
});

describe("the delay before the next request", () => {
  const failure = fc.record(
    {
      code: fc.constant("PROVIDER_OVERLOADED" as const),
      message: fc.constant(""),
      isRetryable: fc.constant(true),
      retryAfterMs: fc.integer({ min: 0, max: 10 ** 9 }),
    },
    { requiredKeys: ["code", "message", "isRetryable"] },
  );
  const tries = fc.integer({ min: 1, max: MAX_PROVIDER_TRIES - 1 });
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  test("is none where the failure is final, or all requests were made", () => {
    fc.assert(
      fc.property(
        failure,
        fc.integer({ min: 1, max: 20 }),
        chance,
        (given: ProviderFailure, count, random) => {
          expect(toRetryDelayMs({ ...given, isRetryable: false }, count, () => random)).toBeUndefined();
          if (count >= MAX_PROVIDER_TRIES) expect(toRetryDelayMs(given, count, () => random)).toBeUndefined();
          else expect(toRetryDelayMs(given, count, () => random)).toEqual(expect.any(Number));
        },
      ),
    );
  });

  test("is never below the wait that the provider asked for, and at most a second above the longer of the two", () => {
    fc.assert(
      fc.property(failure, tries, chance, (given: ProviderFailure, count, random) => {
        const delay = toRetryDelayMs(given, count, () => random) ?? Number.NaN;
        const asked = given.retryAfterMs ?? 0;
        expect(delay).toBeGreaterThanOrEqual(asked);
        expect(delay).toBeLessThanOrEqual(Math.max(asked + 1000, MAX_RETRY_DELAY_MS));
      }),
    );
  });

  test("doubles from two seconds, half of it by chance", () => {
    const given: ProviderFailure = { code: "PROVIDER_UNAVAILABLE", message: "", isRetryable: true };
    const delays = [1, 2, 3, 4].map((count) => [
      toRetryDelayMs(given, count, () => 0),
      toRetryDelayMs(given, count, () => 1 - Number.EPSILON),
    ]);
    expect(delays).toEqual([
      [1000, 2000],
      [2000, 4000],
      [4000, 8000],
      [8000, 16_000],
    ]);
  });
});
