// Tier: real dev server; a worker that serves sessions and turns, and none for delegates.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Worker } from "@temporalio/worker";
import { createFileJournalStore } from "../../activities/journal/journal-store.ts";
import { salvageRun } from "../../activities/run/salvage.ts";
import { describeActivity } from "../../core/activity-text.ts";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";
import { explorer, fakeActivities, Runs } from "../support/fake-activities.ts";
import { RealServer, settled, until } from "../support/real-session.ts";

const TASK_QUEUE = "delegates-unserved";
let server: RealServer;
let worker: Worker;
let running: Promise<void>;

beforeAll(async () => {
  server = await RealServer.start();
  worker = await Worker.create({
    connection: server.environment.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowBundle: await bundleWorkflows(),
    activities: {
      ...fakeActivities(new Runs(), [explorer, { ...explorer, name: "brief", maxDurationSeconds: 10 }]),
      // They left nothing, since they never began.
      salvageRun: async (request: Parameters<typeof salvageRun>[0]) =>
        await salvageRun(request, createFileJournalStore(server.stateFolder)),
    },
  });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker?.shutdown();
  await running;
  await server?.stop();
}, 60_000);

const start = async (session: Awaited<ReturnType<RealServer["startSession"]>>, agent: string) =>
  (await session.task({ input: { agent, task: "look" } }, randomUUID())).delegationId;

test("a delegate whose queue nobody serves is queued, is no failure of a wait, can be stopped, and ends at its ceiling", async () => {
  const session = await server.startSession(TASK_QUEUE, {});
  const [brief, stopped] = [await start(session, "brief"), await start(session, "explorer")];
  const live = await until(
    async () => (await session.live([brief])).get(brief),
    (state) => state?.kind === "queued",
  );
  expect(describeActivity(live, Date.now())).toBe("queued: no worker has taken it yet");
  const wait = await session.taskWait({ input: { delegationIds: [brief], timeoutSeconds: 1 } }, randomUUID());
  expect(wait).toMatchObject({ isTimedOut: true, targets: [{ id: brief, status: "running" }] });
  const { outcomes } = await session.taskStop({ input: { delegationIds: [stopped] } }, randomUUID());
  expect(outcomes).toEqual([{ delegationId: stopped, outcome: "stopped" }]);
  expect(await settled(session, stopped)).toMatchObject({ status: "stopped", report: "", turns: 0 });
  expect(await settled(session, brief)).toMatchObject({
    status: "timed_out",
    error: { code: "DURATION_TIMEOUT" },
    report: "",
    turns: 0,
  });
});
