import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { mapBounded } from "../../client/map-bounded.ts";
import {
  createSessionId,
  SessionClient,
  SessionError,
  sessionErrorCodes,
} from "../../client/session-client.ts";
import { refusals, workflowNames } from "../../core/messages.ts";
import { SessionRefusal } from "../../core/session-port.ts";
import { findTemporalBinary } from "../support/temporal-binary.ts";
import { type FakeWorker, sessionInput, startFakeWorker } from "./fake-worker.ts";
import { waitUntil } from "./wait-until.ts";

let environment: TestWorkflowEnvironment;
let worker: FakeWorker;
let sessions: SessionClient;

beforeAll(async () => {
  const path = await findTemporalBinary();
  environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: "existing-path", path } },
  });
  sessions = new SessionClient(environment.client);
  const { nativeConnection: connection, namespace } = environment;
  worker = await startFakeWorker({ connection, namespace: namespace ?? "default", taskQueue: "main" });
}, 120_000);

afterAll(async () => {
  await worker?.stop();
  await environment?.teardown();
}, 60_000);

async function startSession(prompt = "hello") {
  const session = await sessions.start(sessionInput, { prompt, taskQueue: "main" });
  const { turn } = await session.send(prompt);
  return { session, turn };
}

function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "resolved",
    (error) =>
      error instanceof SessionError || error instanceof SessionRefusal ? error.code : String(error),
  );
}

describe("a session", () => {
  test("answers a message with a turn that can be waited for and read", async () => {
    const { session, turn } = await startSession("what is here?");
    const ended = await session.waitForTurn(turn, AbortSignal.timeout(20_000));
    expect(ended).toMatchObject({ status: "completed", answer: "what is here?", turns: 1 });
    expect((await session.view()).turns).toHaveLength(1);
    expect(await session.turn(2)).toBeUndefined();
    expect(await codeOf(session.waitForTurn(2))).toBe(sessionErrorCodes.unknownTurn);
  }, 30_000);

  test("begins one turn for a message that was sent twice under one key", async () => {
    const session = await sessions.start(sessionInput, { taskQueue: "main" });
    const first = await session.send("hold twice", "key-1");
    expect(await session.send("hold twice", "key-1")).toEqual(first);
    expect(await codeOf(session.send("another"))).toBe(refusals.turnRunning);
    expect(await session.abortTurn()).toEqual(first);
    expect((await session.turn(first.turn))?.status).toBe("aborted");
    expect(await session.abortTurn()).toEqual({ turn: undefined });
  }, 30_000);

  test("starts one delegation for a call key, however often it is called", async () => {
    const { session, turn } = await startSession();
    await session.waitForTurn(turn);
    const call = { input: { agent: "explorer", task: "hold for the key" } };
    const both = await Promise.all([session.task(call, "call-1"), session.task(call, "call-1")]);
    expect(both.map(({ delegationId }) => delegationId)).toEqual(["task-1", "task-1"]);
    expect(await codeOf(session.task({ input: { agent: "nobody", task: "x" } }, "call-2"))).toBe(
      refusals.unknownAgent,
    );
    await waitUntil(() => worker.countRuns("hold for the key") === 1);
    worker.finish("hold for the key", "done");
    const answer = await session.taskWait({ input: {} }, "wait-1");
    expect(answer.targets).toMatchObject([{ id: "task-1", status: "completed", report: "done" }]);
    expect(worker.countRuns("hold for the key")).toBe(1);
  }, 30_000);

  test("says what a delegate is doing, and that it was stopped", async () => {
    const { session, turn } = await startSession();
    await session.waitForTurn(turn);
    await session.task({ input: { agent: "explorer", task: "hold and be seen" } }, "call-1");
    await waitUntil(async () => {
      const state = (await session.live(["task-1"])).get("task-1");
      return state?.kind === "running" && state.details !== undefined;
    });
    const live = await session.live(["task-1", "task-7"]);
    expect(live.get("task-1")).toMatchObject({
      kind: "running",
      attempt: 1,
      details: { phase: "tool", tool: { target: "for task-1" } },
    });
    expect(live.get("task-7")).toEqual({ kind: "queued" });
    expect(await session.taskStop({ input: { delegationIds: ["task-1", "task-9"] } }, "stop-1")).toEqual({
      outcomes: [
        { delegationId: "task-1", outcome: "stopped" },
        { delegationId: "task-9", outcome: "unknown" },
      ],
    });
    expect(await session.report("task-1")).toMatchObject({ status: "stopped", report: "as far as it came" });
    expect((await session.live(["task-1"])).get("task-1")).toEqual({
      kind: "unknown",
      reason: "its workflow is completed",
    });
  }, 30_000);

  test("gives a wait up at once when its signal is aborted, and goes on by itself", async () => {
    const { session, turn } = await startSession();
    await session.waitForTurn(turn);
    await session.task({ input: { agent: "explorer", task: "hold through a wait" } }, "call-1");
    const controller = new AbortController();
    const reason = new Error("the user has gone");
    const wait = session.taskWait({ input: { timeoutSeconds: 600 } }, "wait-1", controller.signal);
    await waitUntil(() => worker.countRuns("hold through a wait") === 1);
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    const before = await session.view();
    expect(before.delegations).toMatchObject([{ status: "running" }]);
    // A workflow's own clock stands still while nothing happens in it.
    await waitUntil(async () => (await session.view()).nowMs > before.nowMs + 200);
    await session.close();
  }, 30_000);
});

describe("a session that can't be worked with", () => {
  test("is told apart: never there, closed, started twice", async () => {
    const { session, turn } = await startSession();
    await session.waitForTurn(turn);
    await session.close();
    await waitUntil(async () => (await sessions.describe(session.sessionId)).status === "closed");
    expect(await codeOf(session.send("more"))).toBe(sessionErrorCodes.closed);
    expect(await codeOf(session.close())).toBe("resolved");
    expect((await session.view()).turns).toMatchObject([{ status: "completed" }]);
    const missing = sessions.get("session-that-never-was");
    expect(await codeOf(missing.send("x"))).toBe(sessionErrorCodes.notFound);
    expect(await codeOf(missing.view())).toBe(sessionErrorCodes.notFound);
    expect(await codeOf(sessions.describe("session-that-never-was"))).toBe(sessionErrorCodes.notFound);
    const again = sessions.start(sessionInput, { sessionId: session.sessionId, taskQueue: "main" });
    expect(await codeOf(again)).toBe(sessionErrorCodes.alreadyExists);
  }, 30_000);

  test("ends a turn as it is terminated from outside, and can be read without a worker", async () => {
    const { session, turn } = await startSession("hold until terminated");
    const wait = session.waitForTurn(turn);
    await session.task({ input: { agent: "explorer", task: "quick" } }, "call-1");
    await waitUntil(async () => (await session.report("task-1"))?.status === "completed");
    await waitUntil(() => worker.countRuns("hold until terminated") === 1);
    await environment.client.workflow.getHandle(session.sessionId).terminate("no more");
    expect(await wait).toMatchObject({ status: "failed", error: { code: "TERMINATED" } });
    expect((await session.view()).isClosing).toBe(true);
    expect(await session.report("task-1")).toMatchObject({ status: "completed", report: "quick" });
    expect((await session.story()).end).toMatchObject({ how: "terminated", reason: "no more" });
  }, 30_000);

  test("ends while a delegate runs on: its own records are read once, the delegate's state every time", async () => {
    const { nativeConnection: connection, namespace, client } = environment;
    const own = await startFakeWorker({
      connection,
      namespace: namespace ?? "default",
      taskQueue: "leaving",
    });
    const session = await sessions.start(sessionInput, { taskQueue: "leaving" });
    await session.task({ input: { agent: "explorer", task: "hold on" } }, "call-1");
    const delegate = client.workflow.getHandle(`${session.sessionId}/task-1`);
    await waitUntil(async () => (await session.live(["task-1"])).get("task-1")?.kind === "running");
    await own.stop();
    await client.workflow.getHandle(session.sessionId).terminate("over");
    const reading = jest.spyOn(client.workflowService, "getWorkflowExecutionHistory");
    for (const _ of ["once", "again", "and again"]) {
      expect((await session.view()).delegations).toMatchObject([{ id: "task-1", status: "running" }]);
      expect(await session.report("task-1")).toMatchObject({ status: "running" });
      expect((await session.story()).end).toMatchObject({ how: "terminated" });
    }
    const reads = reading.mock.calls.length;
    reading.mockRestore();
    expect(reads).toBe(1);
    await delegate.terminate("over too");
    expect(await session.report("task-1")).toMatchObject({ status: "failed" });
    expect((await session.view()).delegations).toMatchObject([{ id: "task-1", status: "failed" }]);
  }, 60_000);

  test("has no worker: its story is told all the same", async () => {
    const session = await sessions.start(sessionInput, { taskQueue: "nobody-listens" });
    expect(await session.story()).toMatchObject({ view: { turns: [], delegations: [] }, end: undefined });
  }, 30_000);

  test("has no worker: a look is given up, and a delegate's state can still be told", async () => {
    const session = await sessions.start(sessionInput, { taskQueue: "nobody-listens" });
    await expect(session.view(AbortSignal.timeout(500))).rejects.toThrow("timeout");
  }, 30_000);
});

describe("the list of sessions", () => {
  test("shows the first message, and how many delegates run", async () => {
    const { session, turn } = await startSession("list me\u001b[2J");
    await session.waitForTurn(turn);
    await session.task({ input: { agent: "explorer", task: "hold in a list" } }, "call-1");
    const find = async () =>
      (await sessions.list({ isOpen: true })).find(({ sessionId }) => sessionId === session.sessionId);
    await waitUntil(async () => (await find())?.runningDelegates === 1);
    expect(await find()).toMatchObject({ status: "open", prompt: "list me\\x1b[2J", workspace: "/tmp" });
    await session.close();
    await waitUntil(async () => (await find()) === undefined);
    expect(await sessions.list({ limit: 1 })).toHaveLength(1);
  }, 30_000);

  test("takes a limit that is one, and no status is met by none", async () => {
    for (const limit of [-1, 0, 1.5, Number.NaN]) {
      expect(await codeOf(sessions.list({ limit }))).toBe(refusals.badInput);
    }
    expect(await sessions.find({ statuses: [] })).toEqual({ sessions: [], more: 0, isCutShort: false });
  });

  test("counts the running delegates of the sessions that it shows, whatever their ids", async () => {
    const sessionId = "it's 100%_of\\/task-1";
    const session = await sessions.start(sessionInput, { sessionId, taskQueue: "main" });
    await session.task({ input: { agent: "explorer", task: "hold odd" } }, "call-1");
    const find = async () =>
      (await sessions.list({ isOpen: true })).find((each) => each.sessionId === sessionId);
    await waitUntil(async () => (await find())?.runningDelegates === 1);
    await session.close();
    await waitUntil(async () => (await find()) === undefined);
  }, 30_000);

  test("reads no more of the server's records than it has to", async () => {
    const { client } = environment;
    const others = Array.from({ length: 450 }, (_, index) => `many-${String(index).padStart(3, "0")}`);
    await mapBounded(others, 10, async (workflowId) => {
      await client.workflow.start(workflowNames.session, { workflowId, taskQueue: "unserved" });
    });
    await waitUntil(async () => (await sessions.find({ taskQueue: "unserved" })).more === 400);
    const listing = jest.spyOn(client.workflowService, "listWorkflowExecutions");
    const [latest] = await sessions.list({ isOpen: true, limit: 1 });
    const pages = (await Promise.all(listing.mock.results.map(({ value }) => value))) as {
      executions: unknown[];
    }[];
    listing.mockRestore();
    expect(latest?.sessionId).toMatch(/^many-4/);
    expect(pages.reduce((rows, { executions }) => rows + executions.length, 0)).toBeLessThanOrEqual(201);
    // Closed ones come after those that are open, and by their end: none of it may show.
    await mapBounded(others.slice(1, 449), 10, async (id) => {
      await client.workflow.getHandle(id).terminate();
    });
    const find = async () => await sessions.find({ taskQueue: "unserved", limit: 5 });
    await waitUntil(
      async () => (await find()).sessions.filter(({ status }) => status === "open").length <= 1,
    );
    const { sessions: found, more } = await find();
    const all = (await sessions.list({ taskQueue: "unserved", limit: 450 })).map(
      ({ startedAtMs }) => startedAtMs,
    );
    expect(found.map(({ startedAtMs }) => startedAtMs)).toEqual(all.slice(0, 5));
    expect(more).toBe(445);
  }, 60_000);

  test("follows the order of ids made one after another", () => {
    const ids = [1_700_000_000_000, 1_800_000_000_000, 40_000_000_000_000].map(createSessionId);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(Array.from({ length: 200 }, () => createSessionId(1))).size).toBeGreaterThan(190);
  });
});
