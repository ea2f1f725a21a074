// Tier: real dev server, worker, tools and processes; the model's words are scripted.
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { SessionHandle } from "../../client/session-client.ts";
import type { RunningWorker } from "../../worker/worker.ts";
import { RealServer, settled, settleOne, until } from "../support/real-session.ts";

const queue = "session";
let server: RealServer;
let worker: RunningWorker;

beforeAll(async () => {
  server = await RealServer.start();
  worker = await server.startWorker(queue);
}, 120_000);
afterAll(async () => {
  await worker?.stop();
  await server?.stop();
}, 60_000);

const bash = (command: string) => ({ tool: "Bash", input: { command } });
const task = (agent: string, text: string) => ({
  tool: "Task",
  input: { agent, task: text, description: text },
});
const holdTurn = async (session: SessionHandle, prompt = "go") => {
  const { turn } = await session.send(prompt);
  return await session.waitForTurn(turn);
};

describe("a turn", () => {
  test("that ends with running delegates aborts them, and their partial reports are kept", async () => {
    const session = await server.startSession(queue, {
      main: [{ calls: [task("test-runner", "long")] }, { calls: [bash("sleep 2")] }, { text: "I leave." }],
      agents: { "test-runner": [{ text: "seen so far", calls: [bash("sleep 60")] }] },
    });
    expect(await holdTurn(session)).toMatchObject({ status: "completed", answer: "I leave." });
    expect(await settled(session, "task-1")).toMatchObject({ status: "aborted", report: "seen so far" });
  });

  test("with leftovers to deliver waits for them and gives their reports to the main agent in a further step", async () => {
    const session = await server.startSession(
      queue,
      {
        main: [{ calls: [task("test-runner", "short")] }, { text: "I wait." }, { text: "I have read it." }],
        agents: { "test-runner": [{ calls: [bash("sleep 2")] }, { text: "the report" }] },
      },
      { leftovers: "deliver" },
    );
    expect(await holdTurn(session)).toMatchObject({
      status: "completed",
      answer: "I have read it.",
      turns: 3,
    });
    expect(await session.report("task-1")).toMatchObject({ status: "completed", report: "the report" });
  });

  test("that is aborted ends its delegates with it, and a Task of it that comes later starts nothing", async () => {
    const session = await server.startSession(queue, {
      main: [{ calls: [task("test-runner", "long"), bash("sleep 60")] }],
      agents: { "test-runner": [{ text: "seen", calls: [bash("sleep 60")] }] },
    });
    const { turn } = await session.send("go");
    await until(
      async () => (await session.live(["task-1"])).get("task-1"),
      (live) => live?.kind === "running" && live.details?.phase === "tool",
    );
    await session.abortTurn();
    expect(await session.turn(turn)).toMatchObject({ status: "aborted" });
    expect(await settled(session, "task-1")).toMatchObject({ status: "aborted", report: "seen" });
    await expect(
      session.task({ input: { agent: "explorer", task: "late" }, turn }, randomUUID()),
    ).rejects.toMatchObject({ code: "Task.TurnOver" });
  });

  test("remembers the turns before it, and a second message while it runs is refused", async () => {
    const session = await server.startSession(queue, {
      main: [{ text: "first answer" }, { calls: [bash("sleep 2")] }, { text: "second answer" }],
      agents: {},
    });
    expect(await holdTurn(session, "one")).toMatchObject({ answer: "first answer" });
    const { turn } = await session.send("two");
    await expect(session.send("three")).rejects.toMatchObject({ code: "Send.TurnRunning" });
    expect(await session.waitForTurn(turn)).toMatchObject({ number: 2, answer: "second answer", turns: 2 });
  });

  test("serves one bad call among five of its message without harm to the others", async () => {
    const session = await server.startSession(queue, {
      main: [
        {
          calls: [
            task("explorer", "a"),
            task("nobody", "b"),
            task("explorer", "c"),
            task("code-reviewer", "d"),
            { tool: "Task", input: { agent: "explorer", task: "" } },
          ],
        },
        { calls: [{ tool: "TaskWait", input: {} }] },
        { text: "done" },
      ],
      agents: {
        explorer: [{ text: "fine" }],
        "code-reviewer": [{ error: { status: 400, message: "bad request" } }],
      },
    });
    await holdTurn(session);
    const { delegations } = await session.view();
    expect(delegations.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "task-1 completed",
      "task-2 completed",
      "task-3 failed",
    ]);
  });
});

describe("TaskWait", () => {
  test("reports a delegate that settles in the instant of its timeout as settled", async () => {
    const own = "instant";
    let ownWorker = await server.startWorker(own);
    const session = await server.startSession(own, {
      main: [],
      agents: { "test-runner": [{ calls: [bash("sleep 60")] }] },
    });
    const { delegationId } = await session.task(
      { input: { agent: "test-runner", task: "go" } },
      randomUUID(),
    );
    const waiting = session.taskWait({ input: { timeoutSeconds: 1 } }, randomUUID());
    const handle = server.environment.client.workflow.getHandle(session.sessionId);
    const has = async (attribute: "timerStartedEventAttributes" | "timerFiredEventAttributes") =>
      (await handle.fetchHistory()).events?.some((event) => event[attribute]) ?? false;
    await until(async () => await has("timerStartedEventAttributes"), Boolean);
    // While no worker is there, the timer fires and the signal arrives: both reach the workflow in one step.
    await ownWorker.stop();
    await until(async () => await has("timerFiredEventAttributes"), Boolean);
    await handle.signal("delegateSettled", { ...settlement, delegationId });
    ownWorker = await server.startWorker(own);
    const answer = await waiting;
    expect(answer).toMatchObject({
      isTimedOut: false,
      targets: [{ id: delegationId, status: "completed", report: "just in time" }],
    });
    await ownWorker.stop();
  });
});

const settlement = {
  status: "completed",
  report: "just in time",
  turns: 1,
  toolCalls: 0,
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
  attempts: 1,
  denials: [],
  model: "test",
};

describe("a delegate that is resumed", () => {
  test("goes on with its conversation under a new id", async () => {
    const session = await server.startSession(queue, {
      main: [],
      agents: { explorer: [{ text: "first report" }, { text: "second report" }] },
    });
    const first = await settleOne(session);
    const { delegationId } = await session.task(
      { input: { agent: "", task: "and now?", resume: first.id } },
      randomUUID(),
    );
    expect(await settled(session, delegationId)).toMatchObject({
      id: "task-2",
      resumedFrom: "task-1",
      report: "second report",
      turns: 1,
    });
  });
});

describe("permissions", () => {
  const write = { tool: "Write", input: { path: "made.txt", content: "made" } };
  const agents = {
    fixer: [
      { calls: [write, bash("echo ran > ran.txt"), { tool: "Read", input: { path: "there.txt" } }] },
      { text: "tried" },
    ],
  };

  test("in mode ask with nobody to answer, writes and commands are denied, reading goes on, and the denials are told", async () => {
    await writeFile(path.join(server.workspace, "there.txt"), "there");
    const session = await server.startSession(queue, { main: [], agents }, { permissionMode: "ask" });
    const record = await settleOne(session, "fixer");
    expect(record.denials.map(({ tool }) => tool)).toEqual(["Write", "Bash"]);
    expect(record.denials[0]?.reason).toMatch(/nobody is there to give it/);
    await expect(readFile(path.join(server.workspace, "made.txt"))).rejects.toThrow("ENOENT");
  });

  test("a question waits through the worker's restart, is answered by a person, and the work goes on", async () => {
    const own = "questions";
    let ownWorker = await server.startWorker(own);
    const session = await server.startSession(
      own,
      { main: [], agents },
      { permissionMode: "accept-edits", canAsk: true },
    );
    const { delegationId } = await session.task({ input: { agent: "fixer", task: "go" } }, randomUUID());
    const asked = await until(
      async () => (await session.view()).questions,
      (questions) => questions.length === 1,
    );
    expect(asked).toMatchObject([
      { id: "q-1", state: "open", tool: "Bash", target: "echo ran > ran.txt", agent: "fixer" },
    ]);
    await ownWorker.stop();
    ownWorker = await server.startWorker(own);
    await until(
      async () => (await session.live([delegationId])).get(delegationId),
      (live) => live?.kind === "running" && live.details?.phase === "question",
    );
    expect((await session.view()).questions).toHaveLength(1);
    await session.answerPermission({ questionId: "q-1", verdict: "allow", by: "tester" });
    expect(await settled(session, delegationId)).toMatchObject({
      status: "completed",
      report: "tried",
      denials: [],
    });
    expect(await readFile(path.join(server.workspace, "ran.txt"), "utf8")).toBe("ran\n");
    await ownWorker.stop();
  });

  test("a question that is open when its delegate is stopped is withdrawn", async () => {
    const session = await server.startSession(
      queue,
      { main: [], agents },
      { permissionMode: "accept-edits", canAsk: true },
    );
    await session.task({ input: { agent: "fixer", task: "go" } }, randomUUID());
    await until(
      async () => (await session.view()).questions,
      (questions) => questions.length === 1,
    );
    const before = Date.now();
    const { outcomes } = await session.taskStop({ input: {} }, randomUUID());
    expect(outcomes).toEqual([{ delegationId: "task-1", outcome: "stopped" }]);
    expect(Date.now() - before).toBeLessThan(5000);
    expect((await session.view()).questions).toMatchObject([{ state: "withdrawn" }]);
  });
});
