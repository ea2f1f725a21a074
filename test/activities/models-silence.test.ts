import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runAgentLoop } from "@earendil-works/pi-agent-core";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createModelRuntime, type ModelRuntime } from "../../activities/models/runtime.ts";
import { type Handler, type OpenAiServer, startOpenAiServer } from "../support/openai-server.ts";
import * as behaviours from "../support/openai-server-behaviours.ts";
import { ask, readTool, toText, toUser } from "../support/openai-server-client.ts";

let server: OpenAiServer;
afterEach(() => server.close());

async function serve(...handlers: Handler[]): Promise<ModelRuntime> {
  server = await startOpenAiServer(handlers);
  const source = { kind: "provider", provider: "openai", id: "m", baseUrl: server.baseUrl } as const;
  return createModelRuntime(source, { role: "delegate", agent: "explorer", task: "look", environment: {} });
}

describe("an abort ends a request at once", () => {
  test("before the first header", async () => {
    const hungUp = Promise.withResolvers<void>();
    const aborting = new AbortController();
    const runtime = await serve((exchange) => {
      exchange.signal.addEventListener("abort", () => hungUp.resolve());
      aborting.abort();
    });
    const { message } = await ask(runtime, { signal: aborting.signal });
    expect(message.stopReason).toBe("aborted");
    await hungUp.promise;
    expect(server.requests).toHaveLength(1);
  });

  test("in the middle of a sentence, which is kept", async () => {
    const runtime = await serve(behaviours.hangAfter("Half a sen"));
    const aborting = new AbortController();
    const { message, text } = await ask(runtime, {
      signal: aborting.signal,
      onEvent: (event) => event.type === "text_delta" && aborting.abort(),
    });
    expect(message.stopReason).toBe("aborted");
    expect(text).toBe("Half a sen");
  });
});

test("comments and pings are no events", async () => {
  const runtime = await serve((exchange) => {
    exchange.text("one ");
    for (let count = 0; count < 20; count++) exchange.raw(": ping\n\n");
    exchange.text("two");
    exchange.finish("stop");
  });
  const { events } = await ask(runtime);
  expect(events.map((event) => event.type)).toEqual([
    "start",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "done",
  ]);
});

test("a slow stream is heard to its end, token by token", async () => {
  const { text, events } = await ask(await serve(behaviours.drip(20, 5)));
  expect(text).toBe("token0 token1 token2 token3 token4 ");
  expect(events.filter((event) => event.type === "text_delta")).toHaveLength(5);
});

test("a server that nobody listens at is a failed connection, to be tried again", async () => {
  const runtime = await serve(behaviours.reply("never"));
  await server.close();
  const { failure } = await ask(runtime);
  expect(failure).toMatchObject({ code: "PROVIDER_UNAVAILABLE", isRetryable: true });
  expect(failure?.message).toContain("ECONNREFUSED");
  server = await startOpenAiServer(behaviours.reply("for the clean-up"));
});

test("a request goes by the proxy of the run's environment", async () => {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(503, { connection: "close" }).end("answered by the proxy");
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const runtime = await serve(behaviours.reply("never"));
  const source = { kind: "provider", provider: "openai", id: "m", baseUrl: runtime.model.baseUrl } as const;
  const environment = { HTTP_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  const byProxy = await createModelRuntime(source, { role: "main", agent: "main", task: "", environment });
  expect((await ask(byProxy)).failure?.message).toBe("HTTP 503: answered by the proxy");
  expect(asked).toEqual([`${runtime.model.baseUrl}/chat/completions`]);
  proxy.closeAllConnections();
  proxy.close();
});

describe("an agent loop", () => {
  async function loop(runtime: ModelRuntime) {
    const read = {
      ...readTool,
      label: "Read",
      execute: async () => ({ content: [{ type: "text" as const, text: "content 😀" }], details: {} }),
    };
    const added = await runAgentLoop(
      [toUser("Read a and b.")],
      { messages: [], tools: [read] },
      { model: runtime.model, convertToLlm: (messages) => messages as never },
      () => undefined,
      undefined,
      runtime.streamFn,
    );
    return added.findLast((message) => message.role === "assistant");
  }

  test("sends a transcript that a strict provider takes, and makes one request a turn", async () => {
    const calls = ["a", "b"].map((path) => ({ id: `call-${path}`, name: "Read", input: { path } }));
    const runtime = await serve(behaviours.callTools(...calls), behaviours.reply("Both say content."));
    const last = await loop(runtime);
    expect(last?.role === "assistant" && toText(last)).toBe("Both say content.");
    expect(server.requests.map((request) => request.violation)).toEqual([undefined, undefined]);
  });

  test("ends on a failure after one request: it never retries by itself", async () => {
    const runtime = await serve(behaviours.refuse(503, { message: "busy" }));
    const last = await loop(runtime);
    expect(last).toMatchObject({ stopReason: "error" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("the server of these tests refuses", () => {
  const assistant = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "Read", arguments: "{}" } }],
  };
  const result = { role: "tool", tool_call_id: "c", content: "x" };
  const user = { role: "user", content: "go" };

  test.each([
    ["a call without a result", [user, assistant, user], /without a result/],
    ["a call without a result at the end", [user, assistant], /without a result at the end/],
    ["a result without a call", [user, result], /no call right before/],
    ["two results of one call", [user, assistant, result, result], /no call right before/],
    ["an id that is used twice", [user, assistant, result, assistant, result], /used twice/],
    ["a lone surrogate", [{ role: "user", content: "\ud83d" }], /lone surrogate/],
    ["a NUL", [{ role: "user", content: "a\0b" }], /NUL/],
    ["an answer at the end", [user, { role: "assistant", content: "hi" }], /last message/],
  ])("%s", async (_name, messages, problem) => {
    await serve(behaviours.reply("never"));
    const response = await fetch(`${server.baseUrl}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "m", stream: true, messages }),
    });
    expect(response.status).toBe(400);
    expect(server.requests[0]?.violation).toMatch(problem);
  });

  test("a body that is not UTF-8", async () => {
    await serve(behaviours.reply("never"));
    const body = Buffer.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]);
    const response = await fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body });
    expect(response.status).toBe(400);
  });
});
