// Tier: real workflows on a time-skipping Temporal server; questions arrive by the signal that runs send.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Runs } from "../support/fake-activities.ts";
import { refusalOf, type TestSession, TimeSkippingServer } from "../support/time-skipping-session.ts";

let server: TimeSkippingServer;
beforeAll(async () => {
  server = await TimeSkippingServer.start();
}, 120_000);
afterAll(async () => await server?.stop());

const withTask = (work: (session: TestSession) => Promise<void>) =>
  server.withSession(
    new Runs(),
    async (session) => {
      await session.task();
      await work(session);
    },
    { input: { permissionMode: "ask", canAsk: true } },
  );

describe("a permission question", () => {
  test("waits, is listed oldest first with who asks and what for, and is the same question when it is put again", async () => {
    await withTask(async (session) => {
      await session.ask({ key: "a", target: "first" });
      await session.ask({ key: "b", target: "second" });
      await session.ask({ key: "a", target: "first" });
      await session.environment.sleep("5 hours");
      const { questions } = await session.view();
      expect(questions).toMatchObject([
        { id: "q-1", state: "open", chain: "task-1", agent: "explorer", tool: "Bash", target: "first" },
        { id: "q-2", state: "open", target: "second" },
      ]);
    });
  });

  test("is answered once: a late or second answer changes nothing and is told how it stands", async () => {
    await withTask(async (session) => {
      await session.ask({ key: "a" });
      expect(await session.answer({ questionId: "q-1", verdict: "deny", reason: "not now" })).toMatchObject({
        hasTakenEffect: true,
      });
      expect(await session.answer({ questionId: "q-1", verdict: "allow", by: "another" })).toMatchObject({
        hasTakenEffect: false,
        question: { state: "denied", by: "tester", answer: "not now" },
      });
      expect((await session.standing("a")).question).toMatchObject({ state: "denied", answer: "not now" });
    });
  });

  test("with an unknown id or a malformed answer is refused, and the open ones are named", async () => {
    await withTask(async (session) => {
      await session.ask({ key: "a" });
      expect(await refusalOf(session.answer({ questionId: "q-7" }))).toEqual({
        code: "Permission.UnknownQuestion",
        text: 'unknown question "q-7". Open questions: q-1.',
      });
      expect((await refusalOf(session.answer({ questionId: "q-1", verdict: "maybe" as "allow" }))).code).toBe(
        "Input.Invalid",
      );
      expect((await refusalOf(session.setMode("yolo"))).text).toBe(
        "the mode must be one of ask, accept-edits, auto",
      );
    });
  });

  test("allowed for the session allows the same call later and the same one that is open, and no other", async () => {
    await withTask(async (session) => {
      await session.ask({ key: "a", target: "npm test" });
      await session.ask({ key: "b", target: "npm test" });
      await session.ask({ key: "c", target: "npm test && rm -rf ." });
      await session.answer({ questionId: "q-1", forSession: true });
      expect((await session.standing("b")).question).toMatchObject({
        state: "allowed",
        by: "tester, for the session",
      });
      expect((await session.standing("c")).question).toMatchObject({ state: "open" });
      await session.ask({ key: "d", target: "npm test" });
      expect((await session.standing("d")).question).toMatchObject({ state: "allowed" });
    });
  });

  test("is judged again when the mode changes: what the mode allows goes on, the rest stays open", async () => {
    await withTask(async (session) => {
      await session.ask({ key: "edit", tool: "Write", target: "/workspace/a", inside: true });
      await session.ask({ key: "outside", tool: "Write", target: "/etc/a", inside: false });
      await session.ask({ key: "bash" });
      await session.ask({ key: "own", scope: "ask", target: "x" });
      await session.setMode("accept-edits");
      const states = async () =>
        await Promise.all(
          ["edit", "outside", "bash", "own"].map(
            async (key) => (await session.standing(key)).question?.state,
          ),
        );
      expect(await states()).toEqual(["allowed", "open", "open", "open"]);
      await session.setMode("auto");
      // The definition's own scope is its own: the session's mode does not widen it.
      expect(await states()).toEqual(["allowed", "allowed", "allowed", "open"]);
      expect((await session.standing("none")).mode).toBe("auto");
    });
  });

  test("of a delegate that has ended is withdrawn, and one that comes late never opens", async () => {
    await withTask(async (session) => {
      await session.ask({ key: "a" });
      await session.settle("task-1");
      expect((await session.standing("a")).question).toMatchObject({ state: "withdrawn" });
      await session.ask({ key: "late" });
      expect((await session.standing("late")).question).toMatchObject({ state: "withdrawn" });
      expect(await session.answer({ questionId: "q-2" })).toMatchObject({ hasTakenEffect: false });
    });
  });
});
