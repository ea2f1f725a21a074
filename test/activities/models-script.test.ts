import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "@earendil-works/pi-ai";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createModelRuntime, type ModelRuntime } from "../../activities/models/runtime.ts";
import { readScript } from "../../activities/models/script-format.ts";
import { ask, type Heard, toUser } from "../support/openai-server-client.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "script-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function play(
  script: unknown,
  { agent = "main", task = "do it" }: { agent?: string; task?: string } = {},
): Promise<ModelRuntime> {
  const file = join(folder, "script.json");
  await writeFile(file, typeof script === "string" ? script : JSON.stringify(script));
  const role = agent === "main" ? "main" : "delegate";
  return createModelRuntime({ kind: "script", file }, { role, agent, task, environment: {} });
}

/** The transcript behind an answer, every call of it answered. */
function answered(messages: Message[], { message }: Heard): Message[] {
  const results = message.content.flatMap((block): Message[] =>
    block.type === "toolCall"
      ? [
          {
            role: "toolResult",
            toolCallId: block.id,
            toolName: block.name,
            content: [],
            isError: false,
            timestamp: 0,
          },
        ]
      : [],
  );
  return [...messages, message, ...results];
}

describe("the step to play", () => {
  const script = {
    main: [
      { text: "First.", calls: [{ tool: "Read", input: { path: "a" } }] },
      {
        text: "Second.",
        calls: [
          { tool: "Read", input: { path: "b" } },
          { tool: "Read", input: { path: "c" } },
        ],
      },
      { text: "Third." },
    ],
  };

  test("follows from the transcript alone: another worker plays the same, and a later prompt goes on", async () => {
    const first = await ask(await play(script));
    expect(first.message).toMatchObject({ stopReason: "toolUse" });
    const behindFirst = answered([toUser("Go.")], first);
    const second = await ask(await play(script), { messages: behindFirst });
    const again = await ask(await play(script), { messages: behindFirst });
    expect(again.message.content).toEqual(second.message.content);
    expect(
      second.message.content.map((block) => (block.type === "toolCall" ? block.id : block.type)),
    ).toEqual(["text", "call-2-1", "call-2-2"]);
    const continued = [...answered(behindFirst, second), toUser("And now?")];
    expect((await ask(await play(script), { messages: continued })).text).toBe("Third.");
  });

  test("is the same after answers that failed", async () => {
    const failed = await ask(await play({ main: [{ error: { status: 503, message: "busy" } }] }));
    expect((await ask(await play(script), { messages: [toUser("Go."), failed.message] })).text).toBe(
      "First.",
    );
  });

  test("that is missing is told by number, and is not tried again", async () => {
    const runtime = await play({ main: [{ text: "Only this." }] });
    const messages = answered([toUser("Go.")], await ask(runtime));
    const { failure } = await ask(runtime, { messages: [...messages, toUser("More.")] });
    expect(failure).toMatchObject({ code: "PROVIDER_BAD_REQUEST", isRetryable: false });
    expect(failure?.message).toMatch(/the steps of main are used up: 1 there are, and step 2 was asked for/);
  });

  test("repeats as often as it says, with an id of its own for each call", async () => {
    const runtime = await play({
      main: [{ calls: [{ tool: "Read", id: "mine" }, { tool: "Read" }], repeat: 3 }, { text: "Done." }],
    });
    let messages = [toUser("Go.")];
    for (let count = 0; count < 3; count++) messages = answered(messages, await ask(runtime, { messages }));
    const ids = messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
    expect(ids).toEqual(["mine", "call-1-2", "mine-2", "call-2-2", "mine-3", "call-3-2"]);
    expect((await ask(runtime, { messages })).text).toBe("Done.");
  });

  test("is the closing one where no tools are offered", async () => {
    const runtime = await play({
      main: [
        { closing: true, text: "My report so far." },
        { calls: [{ tool: "Read" }], repeat: true },
      ],
    });
    const messages = answered([toUser("Go.")], await ask(runtime));
    expect((await ask(runtime, { messages })).message.stopReason).toBe("toolUse");
    expect((await ask(runtime, { messages, tools: [] })).text).toBe("My report so far.");
  });
});

describe("a delegate's steps", () => {
  const script = {
    agents: {
      Explorer: [
        { when: "the server", steps: [{ text: "About the server." }] },
        { when: "the client", steps: [{ text: "About the client." }, { text: "More about the client." }] },
      ],
      fixer: [{ text: "Fixed." }],
    },
    default: [{ text: "Whatever." }],
  };

  test.each([
    ["explorer", "Look at the client.", "About the client."],
    ["explorer", "Look at the server.", "About the server."],
    ["explorer", "Look at nothing.", "Whatever."],
    ["fixer", "Fix it.", "Fixed."],
    ["test-runner", "Run them.", "Whatever."],
  ])("of %s for '%s'", async (agent, task, text) => {
    expect((await ask(await play(script, { agent, task }), { messages: [toUser(task)] })).text).toBe(text);
  });

  test("go on where they were when it is resumed with another task", async () => {
    const first = await ask(await play(script, { agent: "explorer", task: "the client" }), {
      messages: [toUser("the client")],
    });
    const resumed = await play(script, { agent: "explorer", task: "now the server" });
    const messages = [...answered([toUser("the client")], first), toUser("now the server")];
    expect((await ask(resumed, { messages })).text).toBe("More about the client.");
  });

  test("that are missing are told with what there is", async () => {
    const { failure } = await ask(await play({ main: [], agents: { fixer: [] } }, { agent: "explorer" }));
    expect(failure).toMatchObject({ code: "PROVIDER_BAD_REQUEST", isRetryable: false });
    expect(failure?.message).toContain("no steps for explorer, and no default; it has: main, fixer");
  });
});

describe("a scripted failure", () => {
  test("is classified as a provider's, and strikes as often as it says", async () => {
    const runtime = await play({
      main: [
        { text: "At last.", error: { status: 429, message: "slow down", retryAfterSeconds: 2.5, times: 2 } },
      ],
    });
    for (let count = 0; count < 2; count++) {
      expect((await ask(runtime)).failure).toEqual({
        code: "PROVIDER_RATE_LIMITED",
        message: "HTTP 429: slow down",
        isRetryable: true,
        retryAfterMs: 2500,
      });
    }
    expect((await ask(runtime)).text).toBe("At last.");
  });

  test("may come in the middle of a text, or after a complete call", async () => {
    const half = await ask(
      await play({
        main: [{ text: "Half a sentence", error: { status: 529, message: "full", afterCharacters: 6 } }],
      }),
    );
    expect(half.text).toBe("Half a");
    expect(half.failure).toMatchObject({ code: "PROVIDER_OVERLOADED", isRetryable: true });
    const behindCall = await ask(
      await play({
        main: [
          {
            calls: [{ tool: "Read", input: { path: "a" } }],
            error: { message: "reset", afterCharacters: 0 },
          },
        ],
      }),
    );
    expect(behindCall.message.content).toMatchObject([{ type: "toolCall", arguments: { path: "a" } }]);
    expect(behindCall.failure).toMatchObject({ code: "PROVIDER_UNAVAILABLE", isRetryable: true });
  });

  test.each([
    ["length", "length", undefined],
    ["content_filter", "error", { code: "PROVIDER_REFUSED", isRetryable: false }],
    ["none", "error", { code: "PROVIDER_UNAVAILABLE", isRetryable: true }],
  ])("by stop: %s", async (stop, stopReason, expected) => {
    const { message, failure } = await ask(await play({ main: [{ text: "I", stop }] }));
    expect(message.stopReason).toBe(stopReason);
    if (expected === undefined) expect(failure).toBeUndefined();
    else expect(failure).toMatchObject(expected);
  });
});

describe("silence", () => {
  test.each([
    ["from the beginning", { text: "never", silence: true }, ""],
    ["after half a sentence", { text: "Half a sentence", silence: { afterCharacters: 6 } }, "Half a"],
    ["between slow tokens", { text: "Four", thinking: "abcdefgh", tokensPerSecond: 0.001 }, ""],
    ["before the first token", { text: "never", delaySeconds: 3600 }, ""],
  ])("%s ends at once with an abort, and what was said stays", async (_name, step, said) => {
    const runtime = await play({ main: [step] });
    const aborting = new AbortController();
    const heard = ask(runtime, {
      signal: aborting.signal,
      onEvent: (event) =>
        "delta" in event && event.partial.content.length > 0 && setImmediate(() => aborting.abort()),
    });
    if (said === "") setImmediate(() => aborting.abort());
    const { message, text } = await heard;
    expect(message.stopReason).toBe("aborted");
    expect(text).toBe(said);
  });

  test("of some time is followed by the rest", async () => {
    const step = { text: "Half a sentence", silence: { afterCharacters: 6, seconds: 0.05 } };
    const started = performance.now();
    expect((await ask(await play({ main: [step] }))).text).toBe("Half a sentence");
    expect(performance.now() - started).toBeGreaterThanOrEqual(45);
  });

  test("of a pace lies between the tokens, each of four characters", async () => {
    const started = performance.now();
    const { events, text } = await ask(await play({ main: [{ text: "0123456789ab", tokensPerSecond: 50 }] }));
    expect(text).toBe("0123456789ab");
    expect(events.filter((event) => event.type === "text_delta")).toHaveLength(3);
    expect(performance.now() - started).toBeGreaterThanOrEqual(55);
  });

  test("splits no character", async () => {
    const { events, text } = await ask(await play({ main: [{ text: "abc😀😀😀😀" }] }));
    expect(text).toBe("abc😀😀😀😀");
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    expect(deltas.every((delta) => delta.isWellFormed())).toBe(true);
  });
});

describe("a script that is not right", () => {
  test.each([
    ["not JSON", "{", /script .*script\.json: not JSON: /],
    [
      "an unknown key",
      { main: [{ txt: "a" }] },
      /main\[0\]: unknown key "txt"; allowed: text, thinking, calls/,
    ],
    [
      "a wrong type",
      { main: [{ text: "a" }, { calls: [{ tool: 3 }] }] },
      /main\[1\]\.calls\[0\]\.tool: .*expected string/,
    ],
    [
      "a place in an agent's part",
      { agents: { x: [{ when: "a", steps: [{ text: 1 }] }] } },
      /agents\.x\[0\]\.steps\[0\]\.text: /,
    ],
    [
      "a place in an agent's steps",
      { agents: { x: [{ text: "a", stop: "now" }] } },
      /agents\.x\[0\]\.stop: .*"length"/,
    ],
    [
      "a wrong silence",
      { main: [{ silence: "long" }] },
      /main\[0\]\.silence: allowed: true, a number of seconds/,
    ],
    ["a step that says nothing", { main: [{}] }, /main\[0\]: a step needs text/],
    [
      "a step behind an endless one",
      { main: [{ text: "a", repeat: true }, { text: "b" }] },
      /no step after \[0\] is ever played/,
    ],
    ["a closing step with calls", { main: [{ closing: true, calls: [] }] }, /closing step has neither/],
    ["no object", [], /the document: .*expected object/],
  ])("because of %s is refused by place, with what is allowed", async (_name, script, problem) => {
    const { failure } = await ask(await play(script));
    expect(failure).toMatchObject({ code: "PROVIDER_BAD_REQUEST", isRetryable: false });
    expect(failure?.message).toMatch(problem);
  });

  test("because it is not there, or no file, is named", async () => {
    expect(await readScript(join(folder, "none.json"))).toMatchObject({
      message: expect.stringMatching(/none\.json: can't be read: .*ENOENT/),
    });
    expect(await readScript(folder)).toMatchObject({
      message: expect.stringContaining("not a regular file"),
    });
  });
});
