// A file of its own: the HTTP client must set its first timer on the clock that is wound here.
import { afterEach, expect, jest, test } from "@jest/globals";
import { createModelRuntime } from "../../activities/models/runtime.ts";
import { type OpenAiServer, startOpenAiServer } from "../support/openai-server.ts";
import * as behaviours from "../support/openai-server-behaviours.ts";
import { ask } from "../support/openai-server-client.ts";

let server: OpenAiServer;
afterEach(() => server.close());

const deferred = () => Promise.withResolvers<void>();

/** Streams pass on what they have, and a connection that was given up says so, within some turns of the event loop. */
async function turnEventLoop(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("no clock but the caller's ends a silence, neither before the first header nor in mid-sentence, in six hours", async () => {
  // The clock of this process alone is wound; the connections and the server are real.
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask", "Date", "performance"] });
  try {
    const [isAsked, isHeard, aborting] = [deferred(), deferred(), new AbortController()];
    server = await startOpenAiServer([() => isAsked.resolve(), behaviours.hangAfter("Half a sen")]);
    const source = { kind: "provider", provider: "openai", id: "m", baseUrl: server.baseUrl } as const;
    const runtime = await createModelRuntime(source, {
      role: "main",
      agent: "main",
      task: "",
      environment: {},
    });
    let over = 0;
    const listen = (onEvent: () => void) =>
      ask(runtime, { signal: aborting.signal, onEvent }).finally(() => over++);
    const first = listen(() => undefined);
    await isAsked.promise;
    const second = listen(isHeard.resolve);
    await isHeard.promise;
    await turnEventLoop();
    await jest.advanceTimersByTimeAsync(21_600_000);
    await turnEventLoop();
    expect(over).toBe(0);
    aborting.abort();
    expect((await first).message.stopReason).toBe("aborted");
    expect((await second).message.stopReason).toBe("aborted");
    expect(server.requests).toHaveLength(2);
  } finally {
    jest.useRealTimers();
  }
});
