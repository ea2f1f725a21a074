// Tier: real workflows on a time-skipping Temporal server; delegates settle by their own signal or their session's stop.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Runs } from "../support/fake-activities.ts";
import { refusalOf, type TestSession, TimeSkippingServer } from "../support/time-skipping-session.ts";

let server: TimeSkippingServer;
beforeAll(async () => {
  server = await TimeSkippingServer.start();
}, 120_000);
afterAll(async () => await server?.stop());

const withSession = (work: (session: TestSession) => Promise<void>) => server.withSession(new Runs(), work);

describe("Task", () => {
  test.each([
    ["reviwer", /unknown agent "reviwer"\..*Valid agents: explorer\./],
    ["explorr", /Did you mean explorer\?/],
    ["", /unknown agent ""/],
  ])("with agent %p starts nothing and names the valid ones", async (agent, text) => {
    await withSession(async (session) => {
      const refused = await refusalOf(session.task({ agent }));
      expect(refused.code).toBe("Task.UnknownAgent");
      expect(refused.text).toMatch(text);
      expect((await session.view()).delegations).toEqual([]);
    });
  });

  test("matches names trimmed, normalized and without case, and numbers delegations without gaps for what it refused", async () => {
    await withSession(async (session) => {
      expect(await session.task({ agent: " Explorer " })).toMatchObject({
        delegationId: "task-1",
        agent: "explorer",
      });
      await refusalOf(session.task({ agent: "nobody" }));
      await refusalOf(session.task({ task: "  \n" }));
      expect(await session.task()).toMatchObject({ delegationId: "task-2" });
    });
  });

  test.each([
    ["empty", " ", /task: must not be empty/],
    ["too long", "x".repeat(100_001), /task: must not be longer than 100000 characters/],
  ])("with a task that is %s is refused", async (_, task, text) => {
    await withSession(async (session) => {
      const refused = await refusalOf(session.task({ task }));
      expect(refused).toEqual({ code: "Input.Invalid", text: expect.stringMatching(text) });
    });
  });

  test("with a key that was used before is the same delegation", async () => {
    await withSession(async (session) => {
      const first = await session.task({}, "turn-1/0/call_0");
      const again = await session.task({ agent: "nobody", task: "" }, "turn-1/0/call_0");
      expect(again.delegationId).toBe(first.delegationId);
      expect((await session.view()).delegations).toHaveLength(1);
    });
  });

  test("is refused at ten running, listed with their age; a settled or stopped one frees its place, by live records", async () => {
    await withSession(async (session) => {
      for (let started = 0; started < 10; started++) await session.task();
      const refused = await refusalOf(session.task());
      expect(refused.code).toBe("Task.CapReached");
      expect(refused.text).toMatch(/task-1 \(explorer, \d+s\).*task-10 .*TaskWait.*TaskStop/);
      await session.settle("task-3", { status: "failed", error: { code: "WORKER_LOST", message: "lost" } });
      expect(await session.task()).toMatchObject({ delegationId: "task-11" });
      expect((await session.stop({ delegationIds: ["task-5"] })).outcomes).toEqual([
        { delegationId: "task-5", outcome: "stopped" },
      ]);
      expect(await session.task()).toMatchObject({ delegationId: "task-12" });
      for (let round = 0; round < 15; round++) {
        const { delegationId } = await session.task().catch(async () => {
          await session.settle(`task-${round + 6}`);
          return await session.task();
        });
        await session.settle(delegationId);
      }
      await session.settle("task-1");
      expect((await session.task()).delegationId).toMatch(/^task-\d+$/);
    });
  });

  test("is refused outright in plan mode", async () => {
    await server.withSession(
      new Runs(),
      async (session) => {
        expect((await refusalOf(session.task())).code).toBe("Task.ContractMode");
      },
      { input: { contract: "plan" } },
    );
  });

  test("of a turn that is over starts nothing", async () => {
    await withSession(async (session) => {
      expect((await refusalOf(session.task({}, undefined, 1))).code).toBe("Task.TurnOver");
    });
  });

  test("resumes only a settled delegation that is kept, and may leave the agent out", async () => {
    await withSession(async (session) => {
      await session.task();
      expect(await refusalOf(session.task({ resume: "task-1" }))).toEqual({
        code: "Task.CannotResume",
        text: "cannot resume task-1: it is still running",
      });
      expect((await refusalOf(session.task({ resume: "task-9" }))).code).toBe("Task.CannotResume");
      await session.settle("task-1");
      expect(await session.task({ agent: null, resume: "task-1" })).toMatchObject({
        delegationId: "task-2",
        agent: "explorer",
        notes: [],
      });
      expect(await session.record("task-2")).toMatchObject({ resumedFrom: "task-1" });
    });
  });
});

describe("TaskStop", () => {
  test("tells per id what happened, once each, and a second stop changes nothing", async () => {
    await withSession(async (session) => {
      for (let started = 0; started < 3; started++) await session.task();
      await session.settle("task-1");
      const { outcomes } = await session.stop({ delegationIds: ["task-1", "task-2", "nope", "task-2"] });
      expect(outcomes).toEqual([
        { delegationId: "task-1", outcome: "already", status: "completed" },
        { delegationId: "task-2", outcome: "stopped" },
        { delegationId: "nope", outcome: "unknown" },
      ]);
      expect(await session.record("task-2")).toMatchObject({ status: "stopped", report: "half a sentence" });
      expect((await session.stop({ delegationIds: "task-2" })).outcomes).toEqual([
        { delegationId: "task-2", outcome: "already", status: "stopped" },
      ]);
      expect((await session.stop()).outcomes).toEqual([{ delegationId: "task-3", outcome: "stopped" }]);
      expect((await session.stop()).outcomes).toEqual([]);
    });
  });

  test("wakes a TaskWait that waits for the stopped one", async () => {
    await withSession(async (session) => {
      await session.task();
      const waiting = session.wait();
      await session.stop();
      expect((await waiting).targets).toMatchObject([{ id: "task-1", status: "stopped" }]);
    });
  });
});

describe("the settled signal", () => {
  test("of ten delegates in one instant is lost for none, and any, all and min see each ending", async () => {
    await withSession(async (session) => {
      for (let started = 0; started < 10; started++) await session.task();
      const statuses = ["completed", "truncated", "timed_out", "failed", "stopped", "aborted"] as const;
      const all = session.wait();
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          session.settle(`task-${index + 1}`, { status: statuses[index % 6] ?? "failed" }),
        ),
      );
      expect((await all).targets.map(({ status }) => status)).toEqual(
        Array.from({ length: 10 }, (_, index) => statuses[index % 6]),
      );
      expect((await session.wait({ mode: "any", delegationIds: ["task-4"] })).targets).toMatchObject([
        { status: "failed" },
      ]);
    });
  });
});
