// Tier: real dev server, workers in processes of their own, real tools, a strict provider over real HTTP.
import { rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CrashSite } from "../support/crash-site.ts";
import { callTools, drip, reply } from "../support/openai-server-behaviours.ts";
import { settled, until } from "../support/real-session.ts";
import { TcpGate } from "../support/tcp-gate.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

let site: CrashSite;
let worker: WorkerProcess;

beforeAll(async () => {
  site = await CrashSite.open("lost-worker-moments");
  worker = await site.startWorker();
}, 120_000);
afterAll(async () => await site?.close(), 60_000);

describe("a worker that is killed and started again", () => {
  test("during the main agent's TaskWait: the turn goes on with the same wait, and the reports wait for it", async () => {
    let asked = 0;
    const session = await site.startSession({
      "[main]": [
        callTools(
          { id: "t1", name: "Task", input: { agent: "hand", task: "[early]" } },
          { id: "t2", name: "Task", input: { agent: "hand", task: "[late]" } },
        ),
        callTools({ id: "w1", name: "TaskWait", input: {} }),
        reply("both reports are here"),
      ],
      "[early]": [reply("the early report")],
      "[late]": [(exchange) => (asked++ === 0 ? drip(100)(exchange) : reply("the late report")(exchange))],
    });
    await session.send("[main]", "turn");
    await until(
      async () => (await session.view()).delegations.map(({ status }) => status),
      (statuses) => statuses.join() === "completed,running",
    );
    const isWaiting = async () =>
      (await site.history(session.sessionId)).filter(
        (event) =>
          event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name === "taskWait",
      );
    await until(isWaiting, (accepted) => accepted.length === 1);
    await site.untilDetails(session, "task-2", ({ partialReport }) => partialReport.includes("token2"));
    await worker.end("SIGKILL");
    worker = await site.startWorker();
    const turn = await session.waitForTurn(1);
    expect(turn).toMatchObject({
      status: "completed",
      answer: "both reports are here",
      attempts: 2,
      turns: 3,
    });
    expect(await isWaiting()).toHaveLength(1);
    expect(site.toolResults("[main]").at(-1)).toMatch(/the early report[\s\S]*the late report/);
    expect((await session.view()).delegations.map(({ id, attempts }) => ({ id, attempts }))).toEqual([
      { id: "task-1", attempts: 1 },
      { id: "task-2", attempts: 2 },
    ]);
    expect(site.violations).toEqual([]);
  });

  test("while a run is set up: it is handed back all the same", async () => {
    const before = new Set(await site.records());
    const session = await site.startSession({ "[setup]": [reply("set up at last")] });
    const id = await site.start(session, "[setup]");
    await until(
      () => site.records(),
      (records) => records.some((record) => !before.has(record) && record.endsWith(".json")),
    );
    await worker.end("SIGKILL");
    expect(site.requestsOf("[setup]")).toBe(0);
    worker = await site.startWorker();
    expect(await settled(session, id)).toMatchObject({
      status: "completed",
      report: "set up at last",
      attempts: 2,
    });
  });

  test("before it could note a run that it was given: the run is handed back by the worker's name for it", async () => {
    const session = await site.startSession({
      "[unnoted]": [(exchange) => (isNoted ? drip(100)(exchange) : reply("found all the same")(exchange))],
    });
    let isNoted = true;
    const seen = new Set(await site.records());
    const id = await site.start(session, "[unnoted]");
    await site.untilDetails(session, id, ({ partialReport }) => partialReport.includes("token1"));
    await worker.end("SIGKILL");
    isNoted = false;
    // As if the process had died in the moment between the server's giving and its own first write.
    const { runs } = site.server.stateFolder;
    const fresh = (await site.records()).filter((record) => !seen.has(record) && record.endsWith(".json"));
    expect(fresh).toHaveLength(1);
    await Promise.all(fresh.map((record) => rm(path.join(runs, record))));
    worker = await site.startWorker();
    expect(await settled(session, id)).toMatchObject({
      status: "completed",
      report: "found all the same",
      attempts: 2,
    });
  });

  test("between the last message and the answer to the server: nothing is asked again", async () => {
    await worker.end("SIGTERM");
    const gate = await TcpGate.open(site.server.address);
    try {
      worker = await site.startWorker({ address: gate.address });
      const session = await site.startSession({
        "[final]": [
          (exchange) => {
            gate.hold();
            return reply("said in time")(exchange);
          },
        ],
      });
      const id = await site.start(session, "[final]");
      await until(
        () => site.entries(session, id),
        (entries) => entries.some(({ kind }) => kind === "end"),
      );
      await worker.end("SIGKILL");
      // What is held back would keep up the dead worker's connections.
      await gate.close();
      worker = await site.startWorker();
      expect(await settled(session, id)).toMatchObject({
        status: "completed",
        report: "said in time",
        turns: 1,
        attempts: 2,
      });
      expect(site.requestsOf("[final]")).toBe(1);
    } finally {
      await gate.close();
    }
  });

  test("three times with no turn finished in between: WORKER_LOST, with what was said", async () => {
    const session = await site.startSession({ "[doomed]": [drip(100)] });
    const id = await site.start(session, "[doomed]");
    for (let attempt = 1; attempt <= 3; attempt++) {
      await until(
        async () => site.requestsOf("[doomed]"),
        (requests) => requests === attempt,
      );
      await site.untilDetails(
        session,
        id,
        (details) => details.attempt === attempt && details.phase === "model" && details.partialReport !== "",
      );
      await worker.end("SIGKILL");
      worker = await site.startWorker();
    }
    const record = await settled(session, id);
    expect(record).toMatchObject({ status: "failed", error: { code: "WORKER_LOST" }, attempts: 4, turns: 0 });
    expect(record.error?.message).toMatch(/lost 3 times/);
    expect(record.report).toMatch(/^token0 token1/);
    expect(site.requestsOf("[doomed]")).toBe(3);
  });

  test("twice in each turn: nothing is counted over a turn's end", async () => {
    let asked = 0;
    const session = await site.startSession({
      "[steady]": [1, 2].map((turn) => (exchange) => {
        asked += 1;
        if (asked % 3 !== 0) return drip(100)(exchange);
        return turn === 1
          ? callTools({ id: "g1", name: "Glob", input: { pattern: "*" } })(exchange)
          : reply("after four losses")(exchange);
      }),
    });
    const id = await site.start(session, "[steady]");
    for (let attempt = 1; attempt <= 4; attempt++) {
      await site.untilDetails(
        session,
        id,
        (details) =>
          details.attempt === attempt &&
          details.phase === "model" &&
          /token2/.test(details.partialReport) &&
          details.lastEventAtMs > details.startedAtMs &&
          asked % 3 !== 0 &&
          details.turns === Math.floor(asked / 3),
      );
      await until(
        async () => asked,
        (count) => count >= attempt + (attempt > 2 ? 1 : 0),
      );
      await worker.end("SIGKILL");
      worker = await site.startWorker();
    }
    expect(await settled(session, id)).toMatchObject({
      status: "completed",
      report: "after four losses",
      turns: 2,
      attempts: 5,
    });
    expect(site.violations).toEqual([]);
  });
});
