// Tier: a real server, worker, tools and OpenTelemetry's SDK, as a product registers it that embeds the client and the worker.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { context, ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  StackContextManager,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { TraceContext } from "../../core/trace-context.ts";
import { type RunningWorker, startWorker } from "../../worker/worker.ts";
import { RealServer, settled, until } from "../support/real-session.ts";
import { TcpGate } from "../support/tcp-gate.ts";

let server: RealServer;
let worker: RunningWorker;
const exporter = new InMemorySpanExporter();
const spans = () => exporter.getFinishedSpans();
const find = (name: string, parent: Span | ReadableSpan): ReadableSpan[] =>
  spans().filter(
    (span) => span.name === name && span.parentSpanContext?.spanId === parent.spanContext().spanId,
  );
const first = (name: string, parent: Span | ReadableSpan): ReadableSpan => {
  const [found] = find(name, parent);
  if (found === undefined) throw new Error(`no ${name}; there are ${spans().map((span) => span.name)}`);
  return found;
};

beforeAll(async () => {
  context.setGlobalContextManager(new StackContextManager().enable());
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
  );
  server = await RealServer.start();
  worker = await server.startWorker("embedded");
}, 120_000);
afterAll(async () => {
  await worker?.stop();
  await server?.stop();
}, 60_000);

/** Do something as a product does it within a span of its own. */
function within<Result>(work: () => Promise<Result>): { span: Span; result: Promise<Result> } {
  const span = trace.getTracer("a product").startSpan("a request of the product");
  const result = context.with(trace.setSpan(ROOT_CONTEXT, span), work).finally(() => span.end());
  return { span, result };
}

const bash = (command: string) => ({ tool: "Bash", input: { command } });

describe("a product's own trace", () => {
  test("goes on in the turn that it sends and in the delegate that it starts", async () => {
    const session = await server.startSession("embedded", {
      main: [{ text: "done" }],
      agents: { explorer: [{ text: "the report" }] },
    });
    const sent = within(() => session.send("go"));
    await session.waitForTurn((await sent.result).turn);
    const tasked = within(() => session.task({ input: { agent: "explorer", task: "look" } }, randomUUID()));
    await settled(session, (await tasked.result).delegationId);
    await until(
      async () => spans().map(({ name }) => name),
      (names) => names.includes("invoke_agent main") && names.includes("invoke_agent explorer"),
    );
    expect(first("chat script", first("invoke_agent main", sent.span)).attributes).toMatchObject({
      "gen_ai.provider.name": "script",
    });
    expect(first("invoke_agent explorer", tasked.span).attributes).toMatchObject({
      "subagents.status": "completed",
    });
  }, 60_000);

  test("that is malformed is passed over: the call counts, and its run begins a trace of its own", async () => {
    const session = await server.startSession("embedded", {
      main: [],
      agents: { fixer: [{ text: "the report" }] },
    });
    const nonsense = { traceparent: "nonsense\n" } as TraceContext;
    const call = { input: { agent: "fixer", task: "look" }, trace: nonsense };
    const { delegationId } = await session.task(call, randomUUID());
    expect((await settled(session, delegationId)).status).toBe("completed");
    const found = await until(
      async () => spans().find(({ name }) => name === "invoke_agent fixer"),
      (span) => span !== undefined,
    );
    expect(found?.parentSpanContext).toBeUndefined();
  }, 60_000);
});

describe("spans of what went wrong", () => {
  test("a call that a person denied says so, and how long the question was open", async () => {
    const session = await server.startSession(
      "embedded",
      { main: [{ calls: [bash("true")] }, { text: "without it" }], agents: {} },
      { permissionMode: "ask", canAsk: true },
    );
    const sent = within(() => session.send("go"));
    const { turn } = await sent.result;
    const open = await until(
      async () => (await session.view()).questions.find(({ state }) => state === "open"),
      (question) => question !== undefined,
    );
    await session.answerPermission({ questionId: open?.id ?? "", verdict: "deny", by: "a person" });
    await session.waitForTurn(turn);
    await until(
      async () => find("invoke_agent main", sent.span).length,
      (count) => count === 1,
    );
    const call = first("execute_tool Bash", first("invoke_agent main", sent.span));
    expect(call.status.code).toBe(2);
    expect(call.attributes).toMatchObject({
      "subagents.permission": "denied",
      "error.type": "permission_denied",
    });
    expect(first("ask_permission Bash", call).attributes).toEqual({ "subagents.permission": "denied" });
  }, 60_000);

  test("a silence that ended a delegate is the error of its request and of its run", async () => {
    const session = await server.startSession(
      "embedded",
      { main: [], agents: { "code-reviewer": [{ text: "Half a sentence", silence: true }] } },
      { limits: { idleSeconds: 2, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400 } },
    );
    const tasked = within(() =>
      session.task({ input: { agent: "code-reviewer", task: "look" } }, randomUUID()),
    );
    await settled(session, (await tasked.result).delegationId);
    await until(
      async () => find("invoke_agent code-reviewer", tasked.span).length,
      (count) => count === 1,
    );
    const run = first("invoke_agent code-reviewer", tasked.span);
    expect(run.attributes).toMatchObject({
      "subagents.status": "timed_out",
      "subagents.code": "IDLE_TIMEOUT",
      "error.type": "IDLE_TIMEOUT",
    });
    expect(run.status).toEqual({ code: 2 });
    const request = first("chat script", run);
    expect(request.status).toEqual({ code: 2 });
    expect(request.attributes).toMatchObject({ "error.type": "IDLE_TIMEOUT" });
  }, 60_000);

  test("a run that its worker hands back ends without an error, and its next attempt is beside it", async () => {
    const session = await server.startSession("embedded", {
      main: [],
      agents: { "test-runner": [{ calls: [bash("sleep 60")] }, { text: "After." }] },
    });
    const tasked = within(() => session.task({ input: { agent: "test-runner", task: "go" } }, randomUUID()));
    const { delegationId } = await tasked.result;
    await until(
      async () => (await session.live([delegationId])).get(delegationId),
      (live) => live?.kind === "running" && live.details?.phase === "tool",
    );
    await worker.stop();
    worker = await server.startWorker("embedded");
    expect((await settled(session, delegationId)).status).toBe("completed");
    const attempts = await until(
      async () => find("invoke_agent test-runner", tasked.span),
      (found) => found.length === 2,
    );
    expect(
      attempts.map(({ attributes, status }) => [
        attributes["subagents.attempt"],
        attributes["subagents.status"],
        status.code,
      ]),
    ).toEqual([
      [1, "handed_back", 0],
      [2, "completed", 0],
    ]);
    const cutOff = first("execute_tool Bash", attempts[0] as ReadableSpan);
    expect(cutOff.attributes).toMatchObject({ "subagents.interrupted": "handed_back" });
    expect(cutOff.status.code).toBe(0);
  }, 90_000);
});

test("a worker whose last step fails closes its connections, and its end says what failed", async () => {
  const gate = await TcpGate.open(server.address);
  const failing = await startWorker({
    connectionOptions: { address: gate.address },
    namespace: "default",
    taskQueue: "fails-at-its-end",
    stateFolder: server.stateFolder,
    environment: { ...process.env, HOME: server.folder },
    log: () => undefined,
    beforeClose: () => Promise.reject(new Error("the last step failed")),
  });
  failing.finished.catch(() => undefined);
  try {
    expect(gate.connections).toBe(2);
    await expect(failing.stop()).rejects.toThrow("the last step failed");
    // The SDK's native side lets its socket go later, as after every end.
    await until(
      async () => gate.connections,
      (count) => count <= 1,
      10_000,
    );
  } finally {
    await gate.close();
  }
}, 60_000);
