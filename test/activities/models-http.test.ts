import { afterEach, describe, expect, test } from "@jest/globals";
import { createModelRuntime, type ModelRuntime } from "../../activities/models/runtime.ts";
import { type Handler, type OpenAiServer, startOpenAiServer } from "../support/openai-server.ts";
import * as behaviours from "../support/openai-server-behaviours.ts";
import { ask } from "../support/openai-server-client.ts";

let server: OpenAiServer;
afterEach(() => server.close());

async function serve(...handlers: Handler[]): Promise<ModelRuntime> {
  server = await startOpenAiServer(handlers);
  return createModelRuntime(
    { kind: "provider", provider: "openai", id: "any/model-7b", baseUrl: server.baseUrl },
    {
      role: "delegate",
      agent: "explorer",
      task: "look",
      environment: { OPENAI_API_KEY: "sk-of-the-test-0123456789" },
    },
  );
}

describe("an answer", () => {
  test("arrives token by token, with the usage that the server counted and no price", async () => {
    const runtime = await serve(behaviours.reply("An answer, in several tokens: 😀."));
    const heard = await ask(runtime);
    expect(heard.text).toBe("An answer, in several tokens: 😀.");
    expect(heard.events.filter((event) => event.type === "text_delta").length).toBeGreaterThan(3);
    expect(heard.message).toMatchObject({
      stopReason: "stop",
      model: "any/model-7b",
      usage: { input: 100, output: 10, cost: { total: 0 } },
    });
    expect(runtime.label).toBe("openai/any/model-7b");
  });

  test("is asked for with the key of the environment and without a token limit that would be a guess", async () => {
    await ask(await serve(behaviours.reply("Hello")));
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-of-the-test-0123456789");
    expect(server.requests[0]?.headers["user-agent"]).toBe("temporal-subagents");
    const body = server.requests[0]?.body as Record<string, unknown>;
    expect(Object.keys(body).sort()).toEqual(["messages", "model", "stream", "stream_options", "tools"]);
  });

  test.each([
    ["high", "high"],
    ["off", undefined],
  ] as const)("is thought about as the run says: %s", async (thinkingLevel, effort) => {
    server = await startOpenAiServer(behaviours.reply("Hello"));
    const source = { kind: "provider", provider: "openai", id: "m", baseUrl: server.baseUrl } as const;
    const role = { role: "main", agent: "main", task: "", environment: {}, thinkingLevel } as const;
    await ask(await createModelRuntime(source, role));
    const body = server.requests[0]?.body as Record<string, unknown>;
    expect(body.reasoning_effort).toBe(effort);
  });

  test("needs no key from a server of one's own", async () => {
    server = await startOpenAiServer(behaviours.reply("Hello"));
    const source = { kind: "provider", provider: "local", id: "m", baseUrl: server.baseUrl } as const;
    const runtime = await createModelRuntime(source, {
      role: "main",
      agent: "main",
      task: "",
      environment: {},
    });
    expect((await ask(runtime)).text).toBe("Hello");
  });

  test("with tool calls in fragments is put together", async () => {
    const calls = [
      { id: "a", name: "Read", input: { path: "src/ä😀.ts" } },
      { id: "b", name: "Read", input: { path: "b" } },
    ];
    const { message } = await ask(await serve(behaviours.callTools(...calls)));
    expect(message.stopReason).toBe("toolUse");
    expect(message.content).toEqual(
      calls.map(({ id, name, input }) =>
        expect.objectContaining({ type: "toolCall", id, name, arguments: input }),
      ),
    );
  });

  test("that the output limit cut ends with length, which is no failure", async () => {
    const { message, failure } = await ask(await serve(behaviours.finishWith("length", "Half a sen")));
    expect(message.stopReason).toBe("length");
    expect(failure).toBeUndefined();
  });
});

type Case = [name: string, handler: Handler, failure: Record<string, unknown>, said: RegExp];

const call = { id: "c1", name: "Read", input: { path: "a" } };
const retryable: Case[] = [
  [
    "429",
    behaviours.refuse(429, { message: "slow down" }),
    { code: "PROVIDER_RATE_LIMITED" },
    /^HTTP 429: slow down$/,
  ],
  [
    "429 with Retry-After",
    behaviours.refuse(429, { message: "slow down" }, { "retry-after": "7" }),
    { code: "PROVIDER_RATE_LIMITED", retryAfterMs: 7000 },
    /slow down/,
  ],
  ["500", behaviours.refuse(500, { message: "oops" }), { code: "PROVIDER_UNAVAILABLE" }, /^HTTP 500: oops$/],
  ["503", behaviours.refuse(503, { message: "busy" }), { code: "PROVIDER_OVERLOADED" }, /busy/],
  [
    "529 before headers",
    behaviours.refuse(529, { message: "Overloaded", type: "overloaded_error" }, { "retry-after-ms": "1500" }),
    { code: "PROVIDER_OVERLOADED", retryAfterMs: 1500 },
    /^HTTP 529: Overloaded$/,
  ],
  [
    "a 502 page",
    behaviours.refuse(
      502,
      "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>",
    ),
    { code: "PROVIDER_UNAVAILABLE" },
    /^HTTP 502: 502 Bad Gateway$/,
  ],
  [
    "an empty 502",
    behaviours.refuse(502, ""),
    { code: "PROVIDER_UNAVAILABLE" },
    /^HTTP 502 with an empty body$/,
  ],
  ["a reset before headers", behaviours.cutAfter(), { code: "PROVIDER_UNAVAILABLE" }, /connection failed/],
  [
    "a reset in mid-stream",
    behaviours.cutAfter("Half a sen"),
    { code: "PROVIDER_UNAVAILABLE" },
    /connection failed/,
  ],
  [
    "a stream without a finish reason",
    behaviours.endWithoutReason("Half"),
    { code: "PROVIDER_UNAVAILABLE" },
    /finish_reason/,
  ],
  [
    "overload in mid-stream",
    behaviours.errorEvent({ type: "overloaded_error", message: "Overloaded" }, { texts: ["a", "b", "c"] }),
    { code: "PROVIDER_OVERLOADED" },
    /^Overloaded/,
  ],
  [
    "overload after a complete tool call",
    behaviours.errorEvent({ code: 529, message: "Overloaded" }, { call }),
    { code: "PROVIDER_OVERLOADED" },
    /^Overloaded/,
  ],
  [
    "a rate limit in mid-stream",
    behaviours.errorEvent({ type: "rate_limit_error", message: "Please try again in 20s" }, { texts: ["a"] }),
    { code: "PROVIDER_RATE_LIMITED", retryAfterMs: 20_000 },
    /try again in 20s/,
  ],
  [
    "an error in mid-stream of no known kind",
    behaviours.errorEvent({ message: "hm" }, { texts: ["a"] }),
    { code: "PROVIDER_UNAVAILABLE" },
    /^hm$/,
  ],
  [
    "finish reason network_error",
    behaviours.finishWith("network_error"),
    { code: "PROVIDER_UNAVAILABLE" },
    /network_error/,
  ],
];

const final: Case[] = [
  [
    "400",
    behaviours.refuse(400, { message: "bad field", type: "invalid_request_error" }),
    { code: "PROVIDER_BAD_REQUEST" },
    /^HTTP 400: bad field$/,
  ],
  [
    "401",
    behaviours.refuse(401, { message: "Incorrect API key provided: sk-of-the-test-0123456789" }),
    { code: "PROVIDER_AUTH" },
    /provided: \[key\]$/,
  ],
  ["402", behaviours.refuse(402, { message: "pay first" }), { code: "PROVIDER_AUTH" }, /pay first/],
  ["403", behaviours.refuse(403, { message: "not yours" }), { code: "PROVIDER_AUTH" }, /not yours/],
  [
    "404",
    behaviours.refuse(404, { message: "no such model" }),
    { code: "PROVIDER_NOT_FOUND" },
    /no such model/,
  ],
  [
    "413",
    behaviours.refuse(413, { message: "too large" }),
    { code: "PROVIDER_CONTEXT_OVERFLOW" },
    /too large/,
  ],
  [
    "context overflow",
    behaviours.refuse(400, {
      message: "This model's maximum context length is 8192 tokens",
      code: "context_length_exceeded",
    }),
    { code: "PROVIDER_CONTEXT_OVERFLOW" },
    /8192/,
  ],
  [
    "an exhausted quota, though it is a 429",
    behaviours.refuse(429, { message: "You exceeded your current quota", type: "insufficient_quota" }),
    { code: "PROVIDER_AUTH" },
    /quota/,
  ],
  [
    "content_filter",
    behaviours.finishWith("content_filter", "I "),
    { code: "PROVIDER_REFUSED" },
    /content_filter/,
  ],
  [
    "a bad request told in mid-stream",
    behaviours.errorEvent({ type: "invalid_request_error", message: "nope" }),
    { code: "PROVIDER_BAD_REQUEST" },
    /nope/,
  ],
];

describe("is tried again after", () => {
  test.each(retryable)("%s", async (_name, handler, expected, said) => {
    const { failure } = await ask(await serve(handler));
    expect(failure).toMatchObject({ isRetryable: true, ...expected });
    expect(failure?.message).toMatch(said);
    expect(failure?.retryAfterMs).toBe(expected.retryAfterMs);
    expect(server.requests).toHaveLength(1);
  });
});

describe("fails at once after", () => {
  test.each(final)("%s", async (_name, handler, expected, said) => {
    const { failure } = await ask(await serve(handler));
    expect(failure).toMatchObject({ isRetryable: false, ...expected });
    expect(failure?.message).toMatch(said);
    expect(failure).not.toHaveProperty("retryAfterMs");
    expect(server.requests).toHaveLength(1);
  });
});
