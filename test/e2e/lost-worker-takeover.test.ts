// Tier: real dev server, workers in processes of their own, real tools, a strict provider over real HTTP.
import { randomUUID } from "node:crypto";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { SessionHandle } from "../../client/session-client.ts";
import { CrashSite } from "../support/crash-site.ts";
import { callTools, reply } from "../support/openai-server-behaviours.ts";
import { settled, until } from "../support/real-session.ts";
import { TcpGate } from "../support/tcp-gate.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

const IDLE_SECONDS = 6;
const limits = { idleSeconds: IDLE_SECONDS };
let site: CrashSite;
let workers: WorkerProcess[] = [];

beforeAll(async () => {
  site = await CrashSite.open("lost-worker-takeover");
}, 120_000);
afterEach(async () => {
  for (const worker of workers) worker.thaw();
  await Promise.all(workers.map((worker) => worker.end()));
  workers = [];
});
afterAll(async () => await site?.close(), 60_000);

const startWorker = async (place: { stateHome?: string; address?: string } = {}): Promise<WorkerProcess> => {
  const worker = await site.startWorker(place);
  workers.push(worker);
  return worker;
};
const bash = (id: string, command: string) => ({ id, name: "Bash", input: { command } });
/** Wait until the delegate's run is on the first worker and is in the state that is meant, then start a second worker. */
async function begin(session: SessionHandle, task: string, isThere: () => Promise<boolean>): Promise<string> {
  const id = await site.start(session, task);
  await until(isThere, Boolean);
  return id;
}

describe("a worker that never comes back", () => {
  test("is noticed within the heartbeat timeout, and another one goes on where it was", async () => {
    const lost = await startWorker();
    const command = "echo ran >> away.log; setsid nohup sleep 300 > /dev/null 2>&1 & sleep 300";
    const session = await site.startSession(
      { "[away]": [callTools(bash("b1", command)), reply("taken over")] },
      limits,
    );
    const id = await begin(session, "[away]", async () => (await site.read("away.log")) !== "");
    // There before the loss: it can't know of it by its start.
    await startWorker();
    await lost.end("SIGKILL");
    const lostAtMs = Date.now();
    const record = await settled(session, id);
    expect(record).toMatchObject({ status: "completed", report: "taken over", attempts: 2 });
    expect((record.settledAtMs ?? 0) - lostAtMs).toBeLessThan((IDLE_SECONDS + 10) * 1000);
    expect(site.toolResults("[away]")).toEqual([expect.stringMatching(/It may have run/)]);
    expect(await site.read("away.log")).toBe("ran\n");
    expect(await site.processesOf(session)).toEqual([]);
    expect(site.violations).toEqual([]);
  });

  test("leaves its run to nobody who can't read its journal: a clear end, with what was said", async () => {
    const lost = await startWorker();
    const session = await site.startSession(
      {
        "[elsewhere]": [
          (exchange) => {
            exchange.text("What I know so far.");
            exchange.call(0, "b1", "Bash", [
              JSON.stringify({ command: "echo ran >> elsewhere.log; sleep 300" }),
            ]);
            exchange.finish("tool_calls");
          },
        ],
      },
      limits,
    );
    const id = await begin(session, "[elsewhere]", async () => (await site.read("elsewhere.log")) !== "");
    await site.untilDetails(session, id, ({ journalLines, tool }) => journalLines >= 3 && tool !== undefined);
    await startWorker({ stateHome: path.join(site.server.folder, `state-${randomUUID()}`) });
    await lost.end("SIGKILL");
    const record = await settled(session, id);
    expect(record).toMatchObject({
      status: "failed",
      error: { code: "JOURNAL_UNAVAILABLE" },
      report: "What I know so far.",
      attempts: 2,
    });
    expect(record.error?.message).toMatch(/0 lines here.*nothing was resumed/);
    expect(await site.read("elsewhere.log")).toBe("ran\n");
    expect(site.requestsOf("[elsewhere]")).toBe(1);
  });
});

describe("a worker that is frozen", () => {
  test("for longer than the heartbeat timeout writes nothing more once it wakes up, and its processes are dead", async () => {
    const gate = await TcpGate.open(site.server.address);
    const frozen = await startWorker({ address: gate.address });
    const release = Promise.withResolvers<void>();
    const loop = "while :; do echo beat >> loop.log; sleep 0.1; done";
    let asked = 0;
    let isFrozen = false;
    const session = await site.startSession(
      {
        "[frozen]": [
          async (exchange) => {
            asked += 1;
            if (asked > 1) return callTools(bash("b2", "echo new >> who.log"))(exchange);
            // It goes on talking until its worker is frozen, and has its command ready when that one wakes up.
            while (!isFrozen) {
              exchange.text("I begin. ");
              await setTimeout(200);
            }
            await release.promise;
            return callTools(bash("b1", "echo old >> who.log"))(exchange);
          },
          reply("done by the new one"),
        ],
        "[loop]": [callTools(bash("l1", loop)), reply("the loop is over")],
        "[after]": [callTools(bash("a1", "echo after >> after.log")), reply("it works again")],
      },
      limits,
    );
    const id = await begin(session, "[frozen]", async () => asked === 1);
    const loopId = await begin(session, "[loop]", async () => (await site.read("loop.log")) !== "");
    await site.untilDetails(session, id, ({ partialReport }) => partialReport !== "");
    const fresh = await startWorker();
    frozen.freeze();
    isFrozen = true;
    // As for a host that sleeps; else its pollers would go on being given tasks.
    gate.cut();
    // A look at the session that was under way is cut too.
    await until(
      () => session.view().catch(() => undefined),
      (view) => view !== undefined,
    );
    expect(await settled(session, id)).toMatchObject({
      status: "completed",
      report: "done by the new one",
      attempts: 2,
    });
    expect(await settled(session, loopId)).toMatchObject({ status: "completed", attempts: 2 });
    const loopLog = await site.read("loop.log");
    const journals = await Promise.all([id, loopId].map((chain) => site.journals(session, chain)));
    // What the old attempt was waiting for is there when it wakes up.
    release.resolve();
    frozen.thaw();
    await fresh.end("SIGKILL");
    const afterId = await site.start(session, "[after]");
    expect(await settled(session, afterId)).toMatchObject({
      status: "completed",
      report: "it works again",
    });
    expect(await site.read("who.log")).toBe("new\n");
    expect(await site.read("loop.log")).toBe(loopLog);
    expect(await Promise.all([id, loopId].map((chain) => site.journals(session, chain)))).toEqual(journals);
    expect(await site.processesOf(session)).toEqual([]);
    expect(site.violations).toEqual([]);
    await gate.close();
  });

  test("for longer than the window, with the next word ready, goes on as if nothing had been", async () => {
    const idleSeconds = 12;
    const worker = await startWorker();
    const release = Promise.withResolvers<void>();
    const session = await site.startSession(
      {
        "[suspended]": [
          async (exchange) => {
            exchange.text("Before, ");
            await release.promise;
            exchange.text("and after.");
            exchange.finish("stop");
          },
        ],
      },
      { idleSeconds },
    );
    const id = await site.start(session, "[suspended]");
    const { lastEventAtMs } = await site.untilDetails(
      session,
      id,
      ({ partialReport }) => partialReport !== "",
    );
    // The trailing beat, 3 s behind the last event, keeps the server's timer behind the local one.
    const lastBeat = async () => {
      const { raw } = await site.server.environment.client.workflow
        .getHandle(`${session.sessionId}/${id}`)
        .describe();
      return Number(raw.pendingActivities?.[0]?.lastHeartbeatTime?.seconds ?? 0) * 1000;
    };
    await until(lastBeat, (atMs) => atMs >= lastEventAtMs + 1000);
    worker.freeze();
    release.resolve();
    await until(
      async () => Date.now() - lastEventAtMs,
      (silenceMs) => silenceMs > (idleSeconds + 1) * 1000,
    );
    worker.thaw();
    expect(await settled(session, id)).toMatchObject({
      status: "completed",
      report: "Before, and after.",
      attempts: 1,
    });
  });
});
