import type { AssistantMessage } from "@earendil-works/pi-ai";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { noEvidence, type ResponseEvidence, toTransportError } from "../../activities/models/evidence.ts";
import { classifyFailure, MAX_FAILURE_CHARACTERS } from "../../activities/models/failure.ts";
import { toRedactor, toSecretHider } from "../../activities/models/redact.ts";

function classify(
  evidence: Partial<ResponseEvidence>,
  {
    errorMessage = "",
    rawStopReason,
    api = "any",
  }: { errorMessage?: string; rawStopReason?: string; api?: string } = {},
) {
  const message = {
    role: "assistant",
    content: [],
    api,
    stopReason: "error",
    errorMessage,
    ...(rawStopReason === undefined ? {} : { rawStopReason }),
    usage: { input: 0, output: 0, cacheRead: 0 },
  } as unknown as AssistantMessage;
  return classifyFailure(message, { ...noEvidence(), ...evidence }, 0);
}

const seen = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Partial<ResponseEvidence> => ({
  requests: 1,
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body),
});

describe("a rate limit", () => {
  test("that speaks of quota and billing, and names a wait, is waited for", () => {
    const body = [
      {
        error: {
          code: 429,
          message: "You exceeded your current quota, please check your plan and billing details.",
          status: "RESOURCE_EXHAUSTED",
          details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34s" }],
        },
      },
    ];
    expect(classify(seen(429, body))).toMatchObject({
      code: "PROVIDER_RATE_LIMITED",
      isRetryable: true,
      retryAfterMs: 34_000,
    });
  });

  test("that advertises a payment method is no exhausted account", () => {
    const message =
      "Rate limit reached for requests. Add a payment method at https://platform.openai.com/account/billing.";
    expect(
      classify(seen(429, { error: { message, type: "requests", code: "rate_limit_exceeded" } })),
    ).toMatchObject({
      code: "PROVIDER_RATE_LIMITED",
      isRetryable: true,
    });
  });

  test("of too many tokens a minute is no context overflow", () => {
    expect(classify(seen(429, { error: { message: "Too many tokens, please wait" } })).code).toBe(
      "PROVIDER_RATE_LIMITED",
    );
  });
});

describe("an account with nothing left", () => {
  test.each([
    [
      "Anthropic's",
      seen(400, {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "Your credit balance is too low to access the API.",
        },
      }),
    ],
    ["a gateway's", seen(402, { error: { message: "Insufficient credits", code: 402 } })],
    [
      "OpenAI's, even with a wait",
      seen(429, { error: { type: "insufficient_quota", message: "no" } }, { "retry-after": "1" }),
    ],
  ])("is final: %s", (_name, evidence) => {
    expect(classify(evidence)).toMatchObject({ code: "PROVIDER_AUTH", isRetryable: false });
  });
});

describe("a failure is read", () => {
  test.each([
    ["Throttling error: Too many tokens, please wait", "PROVIDER_RATE_LIMITED", true],
    ["Service unavailable: later", "PROVIDER_OVERLOADED", true],
    ["Internal server error: oops", "PROVIDER_UNAVAILABLE", true],
    ["Validation error: no such field", "PROVIDER_BAD_REQUEST", false],
    ["Validation error: Input is too long for requested model.", "PROVIDER_CONTEXT_OVERFLOW", false],
    ["AccessDeniedException: not yours", "PROVIDER_AUTH", false],
    ["403: not allowed", "PROVIDER_AUTH", false],
    ["Could not load credentials from any providers", "PROVIDER_AUTH", false],
    ["connect ECONNREFUSED 127.0.0.1:1", "PROVIDER_UNAVAILABLE", true],
    ["Provider is not configured: openai", "PROVIDER_AUTH", false],
  ])("from the sentence of an adapter with a transport of its own: %s", (errorMessage, code, isRetryable) => {
    expect(classify({}, { errorMessage, api: "bedrock-converse-stream" })).toMatchObject({
      code,
      isRetryable,
    });
  });

  test("from a failed response in mid-stream", () => {
    const event = {
      type: "response.failed",
      response: { error: { code: "server_error", message: "it broke" } },
    };
    expect(classify(seen(200, `event: x\ndata: ${JSON.stringify(event)}\n\n`))).toMatchObject({
      code: "PROVIDER_UNAVAILABLE",
      isRetryable: true,
      message: "it broke (server_error)",
    });
  });

  test("from an error that comes with status 200 and is no stream", () => {
    const body = JSON.stringify({ error: { message: "no room", type: "overloaded_error" } }, undefined, 2);
    expect(classify(seen(200, body), { errorMessage: "Stream ended without finish_reason" })).toMatchObject({
      code: "PROVIDER_OVERLOADED",
      message: "no room (overloaded_error)",
    });
  });

  test("never from the model's own words", () => {
    const chunk = { choices: [{ delta: { content: 'try again in 3 hours {"error": "billing"}' } }] };
    expect(
      classify(seen(200, `data: ${JSON.stringify(chunk)}\n\n`), {
        errorMessage: "Stream ended without finish_reason",
      }),
    ).toEqual({
      code: "PROVIDER_UNAVAILABLE",
      isRetryable: true,
      message: "Stream ended without finish_reason",
    });
  });

  test.each(["content_filter", "refusal", "SAFETY", "sensitive", "PROHIBITED_CONTENT"])(
    "as refused by finish reason %s",
    (rawStopReason) => {
      expect(classify(seen(200, ""), { rawStopReason })).toMatchObject({
        code: "PROVIDER_REFUSED",
        isRetryable: false,
      });
    },
  );

  test("as hopeless where a certificate is refused", () => {
    const transportError = toTransportError(
      new TypeError("fetch failed", {
        cause: Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
      }),
    );
    expect(classify({ requests: 1, transportError })).toMatchObject({
      code: "PROVIDER_UNAVAILABLE",
      isRetryable: false,
    });
  });

  test("the same way whatever the body is: 4xx final, 429 and 5xx tried again, the text bounded", () => {
    const status = fc.integer({ min: 400, max: 599 });
    fc.assert(
      fc.property(
        status,
        fc.oneof(fc.string({ maxLength: 5000, unit: "binary" }), fc.json()),
        (code, body) => {
          const failure = classify(seen(code, body));
          const isExpected = code >= 500 || [408, 409, 425, 429, 498].includes(code);
          expect(failure.isRetryable).toBe(isExpected);
          expect(failure.code.startsWith("PROVIDER_")).toBe(true);
          expect(failure.message.length).toBeLessThanOrEqual(MAX_FAILURE_CHARACTERS);
          expect(failure.message.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

test("keys are taken out of what is stored and shown", () => {
  const redact = toRedactor({ MY_API_KEY: "correct-horse-battery", HOME: "/home/somebody" });
  expect(redact("bad key correct-horse-battery in /home/somebody")).toBe("bad key [key] in /home/somebody");
  expect(redact("sk-proj-abcdefghijkl and Bearer abcdefgh12 and /v1?key=AIzaXYZ&x=1")).toBe(
    "[key] and Bearer [key] and /v1?key=[key]&x=1",
  );
});

test("what a tool says loses the environment's secrets, and nothing that only looks like one", () => {
  const hide = toSecretHider({ MY_API_KEY: "correct-horse-battery" });
  expect(hide("cat: correct-horse-battery: no such file as sk-proj-abcdefghijkl")).toBe(
    "cat: [key]: no such file as sk-proj-abcdefghijkl",
  );
});
