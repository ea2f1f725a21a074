// Tier: real workflows on a time-skipping Temporal server; odd messages, and more of them than fit.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { toInitialState } from "../../core/session.ts";
import { outcome, Runs } from "../support/fake-activities.ts";
import {
  refusalOf,
  settledRecord,
  type TestSession,
  TimeSkippingServer,
} from "../support/time-skipping-session.ts";

let server: TimeSkippingServer;
beforeAll(async () => {
  server = await TimeSkippingServer.start();
}, 120_000);
afterAll(async () => await server?.stop());

const withSession = (work: (session: TestSession) => Promise<void>) => server.withSession(new Runs(), work);

describe("a session", () => {
  test("is not harmed by signals without a payload or with another's", async () => {
    await withSession(async (session) => {
      await session.task();
      for (const name of ["delegateSettled", "permissionAsked"]) {
        await session.handle.signal(name);
        await session.handle.signal(name, { delegationId: "task-1" });
        await session.handle.signal(name, "nonsense");
      }
      expect(await session.record("task-1")).toMatchObject({ status: "running" });
      await session.settle("task-1");
      expect(await session.record("task-1")).toMatchObject({ status: "completed" });
    });
  });

  test("takes no list of ids that would not fit its answer", async () => {
    await withSession(async (session) => {
      const ids = Array.from({ length: 55_000 }, (_, index) => `t${index}`);
      expect(await refusalOf(session.stop({ delegationIds: ids }))).toEqual({
        code: "Input.Invalid",
        text: "TaskStop: delegationIds: must not name more than 200 ids",
      });
      expect((await refusalOf(session.wait({ delegationIds: ["x".repeat(5000)] }))).text).toMatch(
        /longer than any id/,
      );
      expect((await session.stop({ delegationIds: ids.slice(0, 200) })).outcomes).toHaveLength(200);
    });
  });

  test("keeps places for stops: waits beyond its own are refused, observers' first", async () => {
    await withSession(async (session) => {
      await session.task();
      const observed = Array.from({ length: 4 }, () => session.observe({ timeoutSeconds: 900 }));
      await session.untilWaits(4);
      expect((await refusalOf(session.observe())).code).toBe("Session.TooManyWaits");
      const own = Array.from({ length: 3 }, () => session.wait({ timeoutSeconds: 900 }));
      await session.untilWaits(7);
      expect((await refusalOf(session.wait())).code).toBe("Session.TooManyWaits");
      expect((await session.stop()).outcomes).toEqual([{ delegationId: "task-1", outcome: "stopped" }]);
      for (const { targets } of await Promise.all([...observed, ...own]))
        expect(targets).toMatchObject([{ status: "stopped" }]);
      expect((await session.wait()).targets).toEqual([]);
    });
  });

  test("knows a message by its key, also after it continued as new", async () => {
    const runs = new Runs();
    runs.end("turn-8", outcome({ report: "eighth" }));
    const turns = [
      {
        number: 7,
        prompt: "p",
        status: "completed" as const,
        startedAtMs: 1,
        answer: "a",
        turns: 1,
        toolCalls: 0,
        usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
        attempts: 1,
      },
    ];
    const state = { ...toInitialState("auto"), turns, lastTurn: 7, sent: [{ key: "k7", turn: 7 }] };
    await server.withSession(
      runs,
      async (session) => {
        expect(await session.send("again", "k7")).toEqual({ turn: 7 });
        expect(await session.send("new", "k8")).toEqual({ turn: 8 });
        expect(await session.send("new", "k8")).toEqual({ turn: 8 });
        await session.until((view) => view.turns.at(-1)?.status === "completed");
        expect((await session.view()).turns).toHaveLength(2);
      },
      { state },
    );
  });

  test("remembers that its main agent was heard, however many turns without a word came after that", async () => {
    const runs = new Runs();
    const wordless = outcome({
      status: "failed",
      error: { code: "JOURNAL_UNAVAILABLE", message: "away" },
      turns: 0,
    });
    runs.end("turn-1", outcome());
    for (let turn = 2; turn <= 53; turn += 1) runs.end(`turn-${turn}`, wordless);
    await server.withSession(runs, async (session) => {
      for (let turn = 1; turn <= 53; turn += 1) {
        await session.send("go on");
        await session.until(
          (view) => view.turns.at(-1)?.number === turn && view.turns.at(-1)?.status !== "running",
        );
      }
      expect((await session.view()).turns.every(({ turns }) => turns === 0)).toBe(true);
    });
    expect(runs.seen.map(({ hasTranscript }) => hasTranscript)).toEqual([false, ...Array(52).fill(true)]);
  });

  test("reads back reports that it left behind, five a wait, and marks no other as handed over", async () => {
    const records = Array.from({ length: 7 }, (_, index) =>
      settledRecord(index + 1, { report: "", reportState: "away", isHandedOver: false, turns: 2 }),
    );
    const state = { ...toInitialState("auto"), delegations: records, lastDelegation: 7 };
    await server.withSession(
      new Runs(),
      async (session) => {
        const first = await session.wait();
        expect(first.targets.map(({ report }) => report)).toEqual([
          ...[1, 2, 3, 4, 5].map((number) => `left by task-${number}`),
          "",
          "",
        ]);
        const second = await session.wait();
        expect(second.targets.map(({ id, report }) => `${id}: ${report}`)).toEqual([
          "task-6: left by task-6",
          "task-7: left by task-7",
        ]);
        expect((await session.wait()).targets).toEqual([]);
      },
      { state },
    );
  });
});
