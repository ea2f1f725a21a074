// Tier: real dev server, workers in processes of their own, real tools, a strict provider over real HTTP.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { SessionHandle } from "../../client/session-client.ts";
import { CrashSite } from "../support/crash-site.ts";
import { settled, until } from "../support/real-session.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

let site: CrashSite;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  site = await CrashSite.open("lost-worker-stop");
}, 120_000);
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.end();
});
afterAll(async () => await site?.close(), 60_000);

async function startWorker(): Promise<WorkerProcess> {
  const worker = await site.startWorker();
  workers.push(worker);
  return worker;
}

/** A delegate whose worker is killed in the middle of a command, while another worker serves the session. */
async function loseWorker(
  name: string,
  idleSeconds: number,
): Promise<{ session: SessionHandle; id: string }> {
  const lost = await startWorker();
  const command = `echo ran >> ${name}.log; setsid nohup sleep 300 > /dev/null 2>&1 & sleep 300`;
  const session = await site.startSession(
    {
      [`[${name}]`]: [
        (exchange) => {
          exchange.text("What I know so far.");
          exchange.call(0, "b1", "Bash", [JSON.stringify({ command })]);
          exchange.finish("tool_calls");
        },
      ],
    },
    { idleSeconds },
  );
  const id = await site.start(session, `[${name}]`);
  await until(
    () => site.read(`${name}.log`),
    (text) => text !== "",
  );
  await site.untilDetails(
    session,
    id,
    ({ tool, partialReport }) => tool !== undefined && partialReport !== "",
  );
  await startWorker();
  await lost.end("SIGKILL");
  return { session, id };
}

async function stop(session: SessionHandle, id: string) {
  return (await session.taskStop({ input: { delegationIds: [id] } }, randomUUID())).outcomes;
}

describe("a delegate that is stopped while its worker is gone", () => {
  test("is not said to have stopped; once the worker is back it has, with what it had said", async () => {
    const { session, id } = await loseWorker("back", 300);
    expect(await stop(session, id)).toEqual([{ delegationId: id, outcome: "not-confirmed" }]);
    await startWorker();
    const record = await settled(session, id);
    expect(record).toMatchObject({ status: "stopped", report: "What I know so far." });
    expect(record.error).toBeUndefined();
    expect(await stop(session, id)).toEqual([{ delegationId: id, outcome: "already", status: "stopped" }]);
    expect(await site.read("back.log")).toBe("ran\n");
    expect(await site.processesOf(session)).toEqual([]);
  });

  test("has stopped after the heartbeat timeout at the latest, if the worker stays away", async () => {
    const { session, id } = await loseWorker("away", 21);
    expect(await stop(session, id)).toEqual([{ delegationId: id, outcome: "not-confirmed" }]);
    expect(await settled(session, id)).toMatchObject({ status: "stopped", report: "What I know so far." });
    expect(site.requestsOf("[away]")).toBe(1);
  });
});
