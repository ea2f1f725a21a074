// Sessions through restarts: a real dev server with its data on disk, real workers, fake agent runs.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { SessionClient } from "../../client/session-client.ts";
import { refusals } from "../../core/messages.ts";
import { findTemporalBinary } from "../support/temporal-binary.ts";
import { type FakeWorker, sessionInput, startFakeWorker } from "./fake-worker.ts";
import { waitUntil } from "./wait-until.ts";

const database = path.join(mkdtempSync(path.join(tmpdir(), "session-client-")), "temporal.db");
let address: string;
let server: ChildProcess;
let connection: Connection;
let nativeConnection: NativeConnection;
let worker: FakeWorker;
let sessions: SessionClient;

beforeAll(async () => {
  const port = await findFreePort();
  address = `127.0.0.1:${port}`;
  server = await startServer(port);
  connection = await Connection.connect({ address });
  nativeConnection = await NativeConnection.connect({ address });
  sessions = new SessionClient(new Client({ connection }));
  worker = await startFakeWorker({ connection: nativeConnection, namespace: "default", taskQueue: "main" });
}, 120_000);

afterAll(async () => {
  await worker?.stop();
  await connection?.close();
  await nativeConnection?.close();
  server?.kill("SIGKILL");
}, 60_000);

async function findFreePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const found = probe.address();
    probe.close(() => resolve(typeof found === "object" && found !== null ? found.port : 0));
  });
  return await promise;
}

async function startServer(port: number): Promise<ChildProcess> {
  const flags = ["--headless", "--log-level", "never", "--port", String(port), "--db-filename", database];
  const child = spawn(await findTemporalBinary(), ["server", "start-dev", ...flags], { stdio: "ignore" });
  await waitUntil(async () => {
    const probe = await Connection.connect({ address: `127.0.0.1:${port}`, connectTimeout: 1000 }).catch(
      () => undefined,
    );
    const isUp = await probe?.workflowService.describeNamespace({ namespace: "default" }).then(
      () => true,
      () => false,
    );
    await probe?.close();
    return isUp === true;
  }, 60_000);
  return child;
}

async function killServer(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.once("exit", () => resolve());
  server.kill("SIGKILL");
  await promise;
}

async function startSession() {
  const session = await sessions.start(sessionInput, { taskQueue: "main" });
  const { turn } = await session.send("hello");
  await session.waitForTurn(turn);
  return session;
}

describe("a session", () => {
  test("answers more waits at once than a server takes updates of one workflow", async () => {
    const session = await startSession();
    await session.task({ input: { agent: "explorer", task: "hold for many" } }, "call-1");
    await waitUntil(() => worker.countRuns("hold for many") === 1);
    const call = { input: { delegationIds: ["task-1"], timeoutSeconds: 60 } };
    const waits = Array.from({ length: 14 }, (_, index) => session.taskWait(call, `wait-${index}`));
    await waitUntil(async () => (await session.view()).delegations.length === 1);
    worker.finish("hold for many", "seen by all");
    const answers = await Promise.all(waits);
    const seen = answers.filter(({ targets }) => targets[0]?.report === "seen by all");
    expect(seen).toHaveLength(14);
  }, 90_000);

  test("starts ten delegates that are asked for at once, and refuses the eleventh", async () => {
    const session = await startSession();
    const numbers = Array.from({ length: 11 }, (_, index) => index);
    const calls = numbers.map((number) =>
      session.task({ input: { agent: "explorer", task: `hold as one of ten, ${number}` } }, `call-${number}`),
    );
    const results = await Promise.allSettled(calls);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { name: "SessionRefusal", code: refusals.capReached },
    });
    const { outcomes } = await session.taskStop({ input: {} }, "stop-all");
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 10 }, () => "stopped"));
  }, 60_000);

  test("is waited for through a restart of the server, and a call made meanwhile takes effect once", async () => {
    const session = await startSession();
    await session.task({ input: { agent: "explorer", task: "hold through the restart" } }, "call-1");
    await waitUntil(() => worker.countRuns("hold through the restart") === 1);
    const wait = session.taskWait({ input: { timeoutSeconds: 120 } }, "wait-1");
    await waitUntil(async () => (await session.view()).delegations.length === 1);
    await killServer();
    const send = session.send("hold a turn", "send-1");
    const live = await session.live(["task-1"]);
    expect(live.get("task-1")).toEqual({ kind: "unknown", reason: "server unreachable" });
    server = await startServer(Number(address.split(":")[1]));
    const { turn } = await send;
    expect(await session.send("hold a turn", "send-1")).toEqual({ turn });
    expect((await session.view()).turns).toHaveLength(2);
    await waitUntil(() => worker.countRuns("hold through the restart") >= 1);
    worker.finish("hold through the restart", "still here");
    expect((await wait).targets).toMatchObject([{ status: "completed", report: "still here" }]);
    await session.abortTurn();
  }, 180_000);

  test("is waited for through a change of workers", async () => {
    const session = await startSession();
    await session.task({ input: { agent: "explorer", task: "hold for the next worker" } }, "call-1");
    await waitUntil(() => worker.countRuns("hold for the next worker") === 1);
    const wait = session.taskWait({ input: { timeoutSeconds: 120 } }, "wait-1");
    await waitUntil(async () => (await session.view()).delegations.length === 1);
    await worker.stop();
    const lost = async () => (await session.live(["task-1"])).get("task-1")?.kind === "worker-lost";
    await waitUntil(lost);
    worker = await startFakeWorker({ connection: nativeConnection, namespace: "default", taskQueue: "main" });
    await waitUntil(() => worker.countRuns("hold for the next worker") === 1);
    worker.finish("hold for the next worker", "by another");
    expect((await wait).targets).toMatchObject([{ status: "completed", report: "by another" }]);
    expect(await session.report("task-1")).toMatchObject({ report: "by another" });
  }, 120_000);
});
