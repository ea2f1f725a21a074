// Tier: the real command line, server, worker, tools, and a real receiver of OTLP; the model is a real HTTP server with scripted words.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { OpenAiServer } from "../support/openai-server.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { type CommandResult, createMachine, type Machine } from "./cli-process.ts";
import { startStoryModel } from "./telemetry-story.ts";

let machine: Machine;
let model: OpenAiServer;
let receiver: OtlpReceiver;
let result: CommandResult;

const words = (baseUrl: string) => ["--model", "openai/x", "--base-url", baseUrl, "--permission", "auto"];

beforeAll(async () => {
  machine = await createMachine();
  model = await startStoryModel();
  receiver = await startOtlpReceiver();
  await writeFile(path.join(machine.workspace, "a.txt"), "hello\n");
  Object.assign(machine.environment, {
    OPENAI_API_KEY: "key-that-must-not-leak",
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=collector-key-that-must-not-leak",
    OTEL_SERVICE_NAME: "my-agents",
    TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    TRACESTATE: "vendor=1",
  });
  result = await machine.run("run", "go on", "--json", ...words(model.baseUrl));
}, 180_000);
afterAll(async () => {
  await model?.close();
  await receiver?.close();
});

const named = (name: string) => receiver.spans.filter((span) => span.name === name);
const only = (name: string): ReceivedSpan => {
  const found = named(name);
  expect({ name, count: found.length }).toEqual({ name, count: 1 });
  return found[0] as ReceivedSpan;
};
const childrenOf = (parent: ReceivedSpan) =>
  receiver.spans.filter(({ parentId }) => parentId === parent.spanId).map(({ name }) => name);

describe("the trace of a session with two delegates", () => {
  test("is one tree, from the command through its agents, their requests and their tools", () => {
    expect(result.events.at(-1)).toMatchObject({ type: "result", status: "completed" });
    expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(
      new Set(["0af7651916cd43dd8448eb211c80319c"]),
    );
    const command = only("subagents run");
    expect(command.parentId).toBe("b7ad6b7169203331");
    const session = result.events.find(({ type }) => type === "session")?.session;
    expect(command).toMatchObject({
      service: "my-agents",
      attributes: { "gen_ai.conversation.id": session, "subagents.exit_code": 0 },
    });
    expect(childrenOf(command)).toEqual(["invoke_agent main"]);
    expect(childrenOf(only("invoke_agent main")).toSorted()).toEqual([
      ...["chat x", "chat x", "chat x", "chat x"],
      ...["execute_tool Task", "execute_tool Task", "execute_tool TaskWait"],
    ]);
    const started = named("execute_tool Task").flatMap(childrenOf);
    expect(started.toSorted()).toEqual(["invoke_agent explorer", "invoke_agent test-runner"]);
    expect(childrenOf(only("invoke_agent explorer")).toSorted()).toEqual([
      ...["chat x", "chat x"],
      "execute_tool Read",
    ]);
    expect(childrenOf(only("invoke_agent test-runner")).toSorted()).toEqual([
      ...["chat x", "chat x", "chat x"],
      "execute_tool Bash",
    ]);
    expect(receiver.spans).toHaveLength(18);
  });

  test("follows OpenTelemetry's names for agents, models and tools", () => {
    const session = result.events.find(({ type }) => type === "session")?.session;
    expect(only("invoke_agent test-runner")).toMatchObject({
      kind: 1,
      status: 0,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "x",
        "gen_ai.agent.name": "test-runner",
        "gen_ai.conversation.id": session,
        "gen_ai.usage.input_tokens": 200,
        "gen_ai.usage.output_tokens": 20,
        "subagents.delegation.id": "task-1",
        "subagents.role": "delegate",
        "subagents.attempt": 1,
        "subagents.status": "completed",
        "subagents.turns": 2,
        "subagents.tool_calls": 1,
        "temporal.workflow.id": `${session}/task-1`,
      },
    });
    expect(only("execute_tool Bash")).toMatchObject({
      kind: 1,
      status: 0,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "Bash",
        "gen_ai.tool.call.id": "bash-1",
        "gen_ai.tool.type": "function",
      },
    });
  });

  test("has each try of a request as a span of its own", () => {
    const runner = only("invoke_agent test-runner");
    const tries = named("chat x").filter(({ parentId }) => parentId === runner.spanId);
    const seen = tries.map(({ kind, status, attributes }) => [
      kind,
      status,
      attributes["subagents.request.try"],
      attributes["error.type"],
      attributes["gen_ai.response.finish_reasons"],
    ]);
    expect(seen).toEqual([
      [3, 0, 1, undefined, ["tool_call"]],
      [3, 2, 1, "PROVIDER_OVERLOADED", ["error"]],
      [3, 0, 2, undefined, ["stop"]],
    ]);
    expect(tries[2]?.attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.response.time_to_first_chunk": expect.any(Number),
      "server.address": "127.0.0.1",
    });
  });

  test("reaches the provider: each request names its own span", () => {
    const sent = model.requests.map(({ headers }) => headers.traceparent);
    const expected = named("chat x").map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
    expect(expected).toHaveLength(9);
    expect(sent.toSorted()).toEqual(expected.toSorted());
    expect(new Set(model.requests.map(({ headers }) => headers.tracestate))).toEqual(new Set(["vendor=1"]));
  });

  test("reaches the processes that a command starts, and the collector's key does not", async () => {
    const { traceId, spanId } = only("execute_tool Bash");
    const seen = await readFile(path.join(machine.workspace, "seen.txt"), "utf8");
    expect(seen).toBe(`00-${traceId}-${spanId}-01|vendor=1|\n`);
  });

  test("holds nothing that was said, asked, answered or kept secret", () => {
    const text = JSON.stringify(receiver.spans);
    for (const secret of ["must-not-leak", "go on", "Run it.", "It ran.", "hello", "seen.txt", "a.txt"])
      expect({ secret, isThere: text.includes(secret) }).toEqual({ secret, isThere: false });
    expect(receiver.requests[0]?.headers["x-collector-key"]).toBe("collector-key-that-must-not-leak");
  });
});
