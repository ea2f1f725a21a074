import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getBuiltinProviders } from "@earendil-works/pi-ai/providers/all";
import { afterEach, describe, expect, test } from "@jest/globals";
import { loadProvider, providerNames } from "../../activities/models/providers.ts";
import { createModelRuntime, type ModelRuntime } from "../../activities/models/runtime.ts";
import { ask } from "../support/openai-server-client.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** Any provider's adapter against a server that answers the same to every request. */
async function serve(
  provider: string,
  answer: { status: number; headers?: Record<string, string>; body: string },
): Promise<{ runtime: ModelRuntime; requests: string[] }> {
  const requests: string[] = [];
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    request.resume();
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const id = (await loadProvider(provider))?.getModels()[0]?.id ?? "";
  const environment = Object.fromEntries(Object.values(keys).map((name) => [name, "a-key-of-the-test"]));
  const runtime = await createModelRuntime(
    { kind: "provider", provider, id },
    { role: "main", agent: "main", task: "", environment },
  );
  return { runtime: { ...runtime, model: { ...runtime.model, baseUrl } }, requests };
}

const keys = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  google: "GEMINI_API_KEY",
  mistral: "MISTRAL_API_KEY",
  groq: "GROQ_API_KEY",
};

test("every chat provider of the library can be used, under its own name", async () => {
  const withoutChat = ["typesafe"];
  expect([...getBuiltinProviders(), "radius"].filter((name) => !withoutChat.includes(name)).sort()).toEqual(
    expect.arrayContaining([...providerNames]),
  );
  expect(providerNames).toEqual(
    expect.arrayContaining(getBuiltinProviders().filter((name) => !withoutChat.includes(name))),
  );
  for (const name of providerNames) expect((await loadProvider(name))?.id).toBe(name);
});

describe.each(Object.keys(keys))("%s", (provider) => {
  test("is asked once, and its status and the wait it asks for are seen", async () => {
    const { runtime, requests } = await serve(provider, {
      status: 429,
      headers: { "content-type": "application/json", "retry-after": "11" },
      body: JSON.stringify({ error: { message: "too fast", type: "rate_limit_error" } }),
    });
    const { failure } = await ask(runtime);
    expect(failure).toEqual({
      code: "PROVIDER_RATE_LIMITED",
      message: "HTTP 429: too fast",
      isRetryable: true,
      retryAfterMs: 11_000,
    });
    expect(requests).toHaveLength(1);
  });

  test("a stream that just ends is no answer", async () => {
    const { runtime, requests } = await serve(provider, {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: "",
    });
    const { failure } = await ask(runtime);
    expect(failure).toMatchObject({ code: "PROVIDER_UNAVAILABLE", isRetryable: true });
    expect(requests).toHaveLength(1);
  });

  test("without its key is told by the name of the variable, without a request", async () => {
    const id = (await loadProvider(provider))?.getModels()[0]?.id ?? "";
    const runtime = await createModelRuntime(
      { kind: "provider", provider, id },
      { role: "main", agent: "main", task: "", environment: {} },
    );
    const { failure } = await ask(runtime);
    expect(failure).toMatchObject({ code: "PROVIDER_AUTH", isRetryable: false });
    expect(failure?.message).toContain(keys[provider as keyof typeof keys]);
  });
});

test("an overload that Anthropic tells in mid-stream is told from a bad request", async () => {
  const { runtime } = await serve("anthropic", {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })}\n\n`,
  });
  expect((await ask(runtime)).failure).toMatchObject({ code: "PROVIDER_OVERLOADED", isRetryable: true });
});

test("a model that no catalogue has fails at its first request, and names the nearest", async () => {
  const runtime = await createModelRuntime(
    { kind: "provider", provider: "anthropic", id: "claude-sonet-5" },
    { role: "main", agent: "main", task: "", environment: {} },
  );
  const { failure } = await ask(runtime);
  expect(failure).toMatchObject({ code: "PROVIDER_NOT_FOUND", isRetryable: false });
  expect(failure?.message).toContain("claude-sonnet-5");
});
