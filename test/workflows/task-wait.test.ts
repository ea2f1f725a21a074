// Tier: real workflows on a time-skipping Temporal server; delegates settle by their own signal.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { toInitialState } from "../../core/session.ts";
import { Runs } from "../support/fake-activities.ts";
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

const withTasks = (count: number, work: (session: TestSession) => Promise<void>) =>
  server.withSession(new Runs(), async (session) => {
    for (let started = 0; started < count; started++) await session.task();
    await work(session);
  });

const briefs = (answer: { targets: { id: string; status: string }[] }) =>
  answer.targets.map(({ id, status }) => `${id} ${status}`);

describe("TaskWait", () => {
  test("mode all returns when the last target has settled, in the order asked", async () => {
    await withTasks(3, async (session) => {
      const waiting = session.wait({ delegationIds: ["task-3", "task-1", "task-2"] });
      await session.settle("task-2");
      await session.settle("task-1", { status: "failed", error: { code: "NO_REPORT", message: "no text" } });
      await session.settle("task-3");
      const answer = await waiting;
      expect(briefs(answer)).toEqual(["task-3 completed", "task-1 failed", "task-2 completed"]);
      expect(answer.isTimedOut).toBe(false);
      expect(answer.targets.map(({ report }) => report)).toEqual([
        "report of task-3",
        "report of task-1",
        "report of task-2",
      ]);
    });
  });

  test("mode any returns with the first, minCompleted with so many, and a larger number is lowered to the targets", async () => {
    await withTasks(3, async (session) => {
      await session.settle("task-2");
      expect(briefs(await session.wait({ mode: "any" }))).toEqual([
        "task-1 running",
        "task-2 completed",
        "task-3 running",
      ]);
      const two = session.wait({
        mode: "any",
        minCompleted: 2,
        delegationIds: ["task-1", "task-2", "task-3"],
      });
      await session.settle("task-3");
      expect(briefs(await two)).toEqual(["task-1 running", "task-2 completed", "task-3 completed"]);
      const lowered = await session.wait({
        mode: "any",
        minCompleted: 99,
        delegationIds: ["task-2", "task-3"],
      });
      expect(lowered.isTimedOut).toBe(false);
    });
  });

  test("running out of time is no error, changes nothing, and hands over what has settled", async () => {
    await withTasks(2, async (session) => {
      await session.settle("task-1");
      const waiting = session.wait({ timeoutSeconds: 600 });
      await session.until((view) => view.delegations.length === 2);
      await session.environment.sleep("601s");
      const answer = await waiting;
      expect(answer.isTimedOut).toBe(true);
      expect(answer.waitedSeconds).toBeCloseTo(600, 0);
      expect(briefs(answer)).toEqual(["task-1 completed", "task-2 running"]);
      expect((await session.record("task-2"))?.status).toBe("running");
    });
  });

  test.each([
    [0, 1],
    [-5, 1],
    [0.5, 1],
    ["2", 2],
    [1e15, 900],
    [2_147_483_648, 900],
  ])("a timeout of %p waits %p s", async (given, seconds) => {
    await withTasks(1, async (session) => {
      const waiting = session.wait({ timeoutSeconds: given });
      await session.until((view) => view.delegations.length === 1);
      await session.environment.sleep(`${seconds + 1}s`);
      expect((await waiting).waitedSeconds).toBeCloseTo(seconds, 0);
    });
  });

  test("settled delegations answer at once, as often as asked", async () => {
    await withTasks(1, async (session) => {
      await session.settle("task-1");
      const first = await session.wait({ delegationIds: ["task-1"] });
      await session.environment.sleep("1h");
      const second = await session.wait({ delegationIds: ["task-1"] });
      expect(second.waitedSeconds).toBe(0);
      expect(second.targets).toEqual([{ ...first.targets[0], isHandedOver: true }]);
    });
  });

  test("without ids it takes all running and every settled report that was not handed over yet", async () => {
    await withTasks(2, async (session) => {
      await session.settle("task-1");
      expect(briefs(await session.wait({ mode: "any" }))).toEqual(["task-1 completed", "task-2 running"]);
      await session.settle("task-2");
      expect(briefs(await session.wait({ delegationIds: [] }))).toEqual(["task-2 completed"]);
      const nothing = await session.wait();
      expect(nothing).toMatchObject({ targets: [], isTimedOut: false, waitedSeconds: 0 });
    });
  });

  test("unknown ids are named one by one while the good ones are served, duplicates count once", async () => {
    await withTasks(1, async (session) => {
      await session.settle("task-1");
      const ids = [
        "task-1",
        "",
        "task-1\n",
        "TASK-1",
        "task-",
        "task-99",
        "other-session/task-1",
        "task-1",
        "task-1",
      ];
      const answer = await session.wait({ delegationIds: ids, mode: "any", minCompleted: 2 });
      expect(briefs(answer)).toEqual(["task-1 completed"]);
      expect(answer.unknown).toEqual(["", "task-1\n", "TASK-1", "task-", "task-99", "other-session/task-1"]);
      const unknownOnly = await session.wait({ delegationIds: ["task-7"] });
      expect(unknownOnly).toMatchObject({
        targets: [],
        unknown: ["task-7"],
        waitedSeconds: 0,
        isTimedOut: false,
      });
    });
  });

  test("one id given as text is a list of one, and wrong types are refused by name", async () => {
    await withTasks(1, async (session) => {
      await session.settle("task-1");
      expect(briefs(await session.wait({ delegationIds: "task-1" }))).toEqual(["task-1 completed"]);
      expect(await refusalOf(session.wait({ mode: "some" }))).toEqual({
        code: "Input.Invalid",
        text: 'TaskWait: mode: must be "all" or "any"',
      });
      expect((await refusalOf(session.wait({ timeoutSeconds: "soon" }))).text).toMatch(
        /timeoutSeconds: must be a number/,
      );
      expect((await refusalOf(session.wait({ delegationIds: 7 }))).text).toMatch(
        /delegationIds: must be a list/,
      );
    });
  });

  test("the first settlement wins and a later one changes nothing", async () => {
    await withTasks(1, async (session) => {
      await session.settle("task-1", { report: "first" });
      await session.settle("task-1", { report: "second", status: "failed" });
      expect(await session.record("task-1")).toMatchObject({ status: "completed", report: "first" });
    });
  });

  test("of 101 settled records the one that settled earliest goes, and its id is no longer kept rather than unknown", async () => {
    const records = Array.from({ length: 100 }, (_, index) => settledRecord(index + 1));
    const state = { ...toInitialState("auto"), delegations: records, lastDelegation: 100 };
    await server.withSession(
      new Runs(),
      async (session) => {
        await session.task();
        await session.settle("task-101");
        const answer = await session.wait({ delegationIds: ["task-1", "task-2", "task-101", "task-102"] });
        expect(answer.noLongerKept).toEqual(["task-1"]);
        expect(answer.unknown).toEqual(["task-102"]);
        expect(briefs(answer)).toEqual(["task-2 completed", "task-101 completed"]);
      },
      { state },
    );
  });
});
