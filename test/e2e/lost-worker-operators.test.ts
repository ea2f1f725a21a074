// Tier: real dev server, a worker in a process of its own, real tools, Temporal's own command line.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CrashSite } from "../support/crash-site.ts";
import { callTools, drip, reply } from "../support/openai-server-behaviours.ts";
import { settled, until } from "../support/real-session.ts";
import { findTemporalBinary } from "../support/temporal-binary.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

let site: CrashSite;
let worker: WorkerProcess;

beforeAll(async () => {
  site = await CrashSite.open("lost-worker-operators");
  worker = await site.startWorker();
}, 120_000);
afterAll(async () => await site?.close(), 60_000);

async function temporal(...words: string[]): Promise<void> {
  await promisify(execFile)(await findTemporalBinary(), [...words, "--address", site.server.address]);
}

const loop = (file: string) => ({
  id: "b1",
  name: "Bash",
  input: { command: `echo ran >> ${file}; setsid nohup sleep 300 > /dev/null 2>&1 & sleep 300` },
});

describe("an operator", () => {
  test.each([
    ["pauses and unpauses", ["pause", "unpause"]],
    ["resets", ["reset"]],
  ])(
    "who %s a run ends its command; it goes on where it was, and no loss is counted",
    async (name, actions) => {
      const file = `${actions[0]}.log`;
      const looked = Promise.withResolvers<void>();
      const session = await site.startSession({
        [`[${name}]`]: [
          callTools(loop(file)),
          async (exchange) => {
            await looked.promise;
            return reply("went on")(exchange);
          },
        ],
      });
      const id = await site.start(session, `[${name}]`);
      await until(
        () => site.read(file),
        (text) => text !== "",
      );
      const workflowId = `${session.sessionId}/${id}`;
      for (const action of actions) {
        await temporal("activity", action, "--activity-id", "1", "--workflow-id", workflowId);
        await until(
          () => site.processesOf(session),
          (processes) => processes.length === 0,
        );
      }
      const details = await site.untilDetails(
        session,
        id,
        ({ phase, turns }) => phase === "model" && turns === 1,
      );
      expect(details.losses).toBe(0);
      looked.resolve();
      expect(await settled(session, id)).toMatchObject({ status: "completed", report: "went on", turns: 2 });
      expect(site.toolResults(`[${name}]`)).toEqual([expect.stringMatching(/It may have run/)]);
      expect(await site.read(file)).toBe("ran\n");
      expect(site.violations).toEqual([]);
    },
  );

  test("who terminates a session leaves nothing of it running: neither delegates nor the turn", async () => {
    const session = await site.startSession({
      "[terminated]": [
        callTools({ id: "t1", name: "Task", input: { agent: "hand", task: "[child]" } }),
        callTools(loop("main.log")),
      ],
      "[child]": [callTools(loop("child.log"))],
    });
    await session.send("[terminated]", "turn");
    await until(
      async () => (await site.read("main.log")) + (await site.read("child.log")),
      (text) => text === "ran\nran\n",
    );
    expect((await site.processesOf(session)).length).toBeGreaterThan(0);
    await temporal("workflow", "terminate", "--workflow-id", session.sessionId);
    await until(
      () => site.processesOf(session),
      (processes) => processes.length === 0,
    );
    const { client } = site.server.environment;
    const child = await client.workflow.getHandle(`${session.sessionId}/task-1`).result();
    expect(child).toMatchObject({ status: "stopped", delegationId: "task-1" });
  });
});

test("a run whose worker stays away ends at its ceiling, with what it had said", async () => {
  const maxDurationSeconds = 10;
  const session = await site.startSession({ "[ceiling]": [drip(100)] }, { maxDurationSeconds });
  const id = await site.start(session, "[ceiling]");
  await site.untilDetails(session, id, ({ partialReport }) => partialReport.includes("token2"));
  await worker.end("SIGKILL");
  const { startedAtMs } = (await site.details(session, id)) ?? { startedAtMs: Date.now() };
  await until(
    async () => Date.now() - startedAtMs,
    (elapsedMs) => elapsedMs > (maxDurationSeconds + 1) * 1000,
  );
  worker = await site.startWorker();
  const record = await settled(session, id);
  expect(record).toMatchObject({ status: "timed_out", error: { code: "DURATION_TIMEOUT" } });
  expect(record.report).toMatch(/^token0 token1 token2/);
});
