// Tier: no server. The contract of pi's loop that the rest of the code relies on, through the one file that knows it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { AgentEvent, AgentTool } from "@earendil-works/pi-agent-core";
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createModelRuntime } from "../../activities/models/runtime.ts";
import { type LoopInput, runLoop } from "../../activities/thread/agent-loop.ts";
import { closingInstruction } from "../../core/system-prompt.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "agent-loop-"));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

interface Heard {
  events: AgentEvent[];
  waits: number[];
  ran: string[];
}

async function play(
  steps: object[],
  changes: Partial<LoopInput> = {},
  control: {
    signal?: AbortSignal;
    mayWait?: boolean;
    deny?: string;
    onEvent?: (event: AgentEvent) => Promise<void>;
    /** What a server does to a message that the script would not. */
    alter?: (message: AssistantMessage) => void;
  } = {},
) {
  const file = path.join(folder, "script.json");
  await writeFile(file, JSON.stringify({ main: steps, agents: {} }));
  const heard: Heard = { events: [], waits: [], ran: [] };
  const runtime = await createModelRuntime(
    { kind: "script", file },
    { role: "main", agent: "main", task: "go", environment: {} },
  );
  const { streamFn } = runtime;
  runtime.streamFn = async (...request) => {
    const stream = await streamFn(...request);
    const finish = stream.result.bind(stream);
    stream.result = async () => {
      const message = await finish();
      control.alter?.(message);
      return message;
    };
    return stream;
  };
  const ending = await runLoop(
    {
      systemPrompt: "You work.",
      history: [],
      prompt: "go",
      unfinished: undefined,
      tools: [toTool("look", heard)],
      runtime,
      thinkingLevel: undefined,
      maxTurns: undefined,
      turns: 0,
      isTurnOpen: false,
      ...changes,
    },
    {
      signal: control.signal ?? new AbortController().signal,
      async onEvent(event) {
        heard.events.push(structuredClone(event));
        await control.onEvent?.(event);
      },
      permit: async () => ({
        isAllowed: control.deny === undefined,
        reason: control.deny ?? "",
        allowedOutside: [],
      }),
      async backOff(waitMs) {
        heard.waits.push(waitMs);
        return control.mayWait ?? true;
      },
    },
  );
  return { ending, heard, types: heard.events.map(({ type }) => type), messages: toMessages(heard.events) };
}

function toTool(name: string, heard: Heard): AgentTool {
  return {
    name,
    label: name,
    description: "looks",
    parameters: { type: "object", properties: { at: { type: "string" } } },
    async execute(callId) {
      heard.ran.push(callId);
      return { content: [{ type: "text", text: `saw ${callId}` }], details: undefined };
    },
  };
}

function toMessages(events: AgentEvent[]): Message[] {
  return events.flatMap((event) => (event.type === "message_end" ? [event.message as Message] : []));
}

const look = (id: string) => ({ tool: "look", input: { at: id }, id });

describe("the agent loop", () => {
  test("tells every event in order, ends with agent_end, and its answer is the last message's text", async () => {
    const { ending, types } = await play([{ text: "I look.", calls: [look("a")] }, { text: "Done." }]);
    expect(ending).toEqual({ kind: "done", text: "Done." });
    expect(types.filter((type) => type !== "message_update")).toEqual([
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "message_start",
      "message_end",
      "tool_execution_start",
      "tool_execution_end",
      "message_start",
      "message_end",
      "turn_end",
      "turn_start",
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
    ]);
  });

  test("awaits each event: nothing starts before the message that asked for it is written down", async () => {
    const order: string[] = [];
    await play(
      [{ calls: [look("a")] }, { text: "Done." }],
      {},
      {
        async onEvent(event) {
          await new Promise((resolve) => setImmediate(resolve));
          order.push(event.type);
        },
      },
    );
    expect(order.indexOf("message_end")).toBeLessThan(order.indexOf("tool_execution_start"));
    expect(order.lastIndexOf("tool_execution_end")).toBeLessThan(order.indexOf("turn_end"));
  });

  test("ends with a rejection if an event can't be written down", async () => {
    await expect(
      play(
        [{ calls: [look("a")] }, { text: "Done." }],
        {},
        {
          async onEvent(event) {
            if (event.type === "tool_execution_end") throw new Error("disk full");
          },
        },
      ),
    ).rejects.toThrow("disk full");
  });

  test("runs the last turn's tools and then one closing turn without tools, in which the report is asked for", async () => {
    const { ending, heard, messages } = await play(
      [{ calls: [look("a")] }, { calls: [look("b")] }, { text: "What I have.", closing: true }],
      { maxTurns: 2 },
    );
    expect(ending).toEqual({ kind: "turn-limit", text: "What I have." });
    expect(heard.ran).toEqual(["a", "b"]);
    expect(
      messages.some((message) => message.role === "user" && message.content === closingInstruction),
    ).toBe(true);
    expect(heard.events.filter(({ type }) => type === "turn_end")).toHaveLength(3);
  });

  test("a failed request is no event of the agent, is tried again after its wait, and no tool is repeated", async () => {
    const { ending, heard, types } = await play([
      { calls: [look("a")] },
      { text: "Done.", error: { status: 503, message: "busy", times: 3 } },
    ]);
    expect(ending).toEqual({ kind: "done", text: "Done." });
    expect(heard.ran).toEqual(["a"]);
    expect(heard.waits).toHaveLength(3);
    // As if the requests that failed had never been: silence goes on through them.
    const { types: calm } = await play([{ calls: [look("a")] }, { text: "Done." }]);
    expect(types).toEqual(calm);
  });

  test("five requests are the most for one turn, and the next turn has five of its own", async () => {
    const failing = (times: number) => ({ error: { status: 503, message: "busy", times } });
    const two = await play([
      { calls: [look("a")], ...failing(4) },
      { text: "Done.", ...failing(4) },
    ]);
    expect(two.ending.kind).toBe("done");
    expect(two.heard.waits).toHaveLength(8);
    const { ending } = await play([{ text: "never", ...failing(5) }]);
    expect(ending).toMatchObject({ kind: "provider", tries: 5 });
  });

  test("a wait that does not fit ends the run with the wait that was asked for", async () => {
    const { ending } = await play(
      [{ error: { status: 429, message: "later", retryAfterSeconds: 500 } }],
      {},
      { mayWait: false },
    );
    expect(ending).toMatchObject({ kind: "rate-limited" });
    expect((ending as { waitMs: number }).waitMs).toBeGreaterThanOrEqual(500_000);
  });

  test("a call that is not allowed is answered with the reason and does not run", async () => {
    const { heard } = await play([{ calls: [look("a")] }, { text: "Done." }], {}, { deny: "not today" });
    expect(heard.ran).toEqual([]);
    const end = heard.events.find((event) => event.type === "tool_execution_end");
    expect(end).toMatchObject({ isError: true, result: { content: [{ type: "text", text: "not today" }] } });
  });

  test("calls that repeat an id, of an earlier message or of their own, get one that is unique; others keep theirs", async () => {
    const { heard } = await play([
      { calls: [look("a"), look("a"), look("b")] },
      { calls: [look("a"), look("c")] },
      { text: "Done." },
    ]);
    expect(heard.ran).toEqual(["a", "a-2", "b", "a-3", "c"]);
  });

  test("calls without an id get one each", async () => {
    const { heard, messages } = await play(
      [{ calls: [look("a"), look("b")] }, { text: "Done." }],
      {},
      {
        alter: (message) => {
          for (const part of message.content) if (part.type === "toolCall") part.id = "";
        },
      },
    );
    expect(heard.ran).toEqual(["call", "call-2"]);
    expect(
      messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])),
    ).toEqual(["call", "call-2"]);
  });

  test("an abort ends a silent request at once", async () => {
    const stop = new AbortController();
    const { ending } = await play(
      [{ text: "Half a sentence", silence: { afterCharacters: 4 } }],
      {},
      {
        signal: stop.signal,
        async onEvent(event) {
          if (event.type === "message_update") stop.abort();
        },
      },
    );
    expect(ending).toEqual({ kind: "aborted" });
  });

  test("goes on from a message whose calls were cut off: what is done keeps its result, the rest runs, in the calls' order", async () => {
    const assistant = (await play([{ calls: [look("a"), look("b")] }, { text: "x" }])).messages.find(
      ({ role }) => role === "assistant",
    );
    if (assistant === undefined) throw new Error("no message was recorded");
    const result = {
      role: "toolResult" as const,
      toolCallId: "b",
      toolName: "look",
      content: [{ type: "text" as const, text: "kept" }],
      isError: false,
      timestamp: 0,
    };
    const { ending, heard } = await play([{ text: "unused" }, { text: "Went on." }], {
      history: [{ role: "user", content: "go", timestamp: 0 }, assistant],
      prompt: undefined,
      unfinished: { results: [result], rerun: ["a"] },
      isTurnOpen: true,
    });
    expect(ending).toEqual({ kind: "done", text: "Went on." });
    expect(heard.ran).toEqual(["a"]);
    const turnEnd = heard.events.find((event) => event.type === "turn_end");
    expect(turnEnd?.type === "turn_end" && turnEnd.toolResults.map(({ toolCallId }) => toolCallId)).toEqual([
      "a",
      "b",
    ]);
  });

  test("an answer that was received and never handed over is the answer: the model is not asked again", async () => {
    const answer = (await play([{ text: "The answer." }])).messages.at(-1);
    if (answer === undefined) throw new Error("no message was recorded");
    const { ending, types } = await play([{ text: "another" }], {
      history: [{ role: "user", content: "go", timestamp: 0 }, answer],
      prompt: undefined,
      isTurnOpen: true,
    });
    expect(ending).toEqual({ kind: "done", text: "The answer." });
    expect(types).toEqual(["agent_start", "turn_end", "agent_end"]);
  });
});
