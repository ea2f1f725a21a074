import { execFileSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Client, Connection } from "@temporalio/client";
import { isProcessAlive } from "../../activities/processes/process-identity.ts";
import { AGENT_SEARCH_ATTRIBUTE, STATUS_SEARCH_ATTRIBUTE } from "../../core/search-attributes.ts";
import { toDevServerFiles } from "../../worker/server/dev-server-files.ts";
import {
  ensureIn,
  holdLease,
  makeBench,
  removeBench,
  type ServerBench,
  toServerProcess,
  until,
} from "./server-bench.ts";

let bench: ServerBench;

beforeEach(async () => {
  bench = await makeBench();
}, 240_000);

afterEach(() => removeBench(bench), 60_000);

test("a workflow and its search attributes are there after a restart, at the same address", async () => {
  const first = await ensureIn(bench);
  expect(first).toMatchObject({ isOurs: true, hasSearchAttributes: true, namespace: "default" });
  const connection = await Connection.connect(first.connectionOptions);
  await new Client({ connection }).workflow.start("waiting", {
    workflowId: "kept",
    taskQueue: "nobody",
    typedSearchAttributes: [
      { key: AGENT_SEARCH_ATTRIBUTE, value: "explorer" },
      { key: STATUS_SEARCH_ATTRIBUTE, value: "running" },
    ],
  });
  await connection.close();
  await first.release();
  const stopped = toServerProcess(bench);
  await until("the server's end", () => !isProcessAlive(stopped));

  const second = await ensureIn(bench);
  expect(second.address).toBe(first.address);
  const reconnected = await Connection.connect(second.connectionOptions);
  const client = new Client({ connection: reconnected });
  const description = await client.workflow.getHandle("kept").describe();
  expect(description.status.name).toBe("RUNNING");
  expect(description.typedSearchAttributes.get(AGENT_SEARCH_ATTRIBUTE)).toBe("explorer");
  const query = 'SubagentsAgent = "explorer" AND SubagentsStatus = "running"';
  await until("the index", async () => (await client.workflow.count(query)).count === 1);
  await reconnected.close();
  await second.release();
}, 60_000);

test("what has ended is kept for 30 days, in a namespace of the person's choice too", async () => {
  const lease = await ensureIn(bench, { TEMPORAL_NAMESPACE: "mine" });
  expect(lease).toMatchObject({ isOurs: true, namespace: "mine", hasSearchAttributes: true });
  const usual = await ensureIn(bench);
  const connection = await Connection.connect(lease.connectionOptions);
  for (const namespace of ["mine", "default"]) {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400);
  }
  await connection.close();
  await Promise.all([lease.release(), usual.release()]);
}, 60_000);

test("it serves this machine alone, pushes cancellations, and gets no keys", async () => {
  const key = "key-of-a-provider";
  const holder = await holdLease({ ...bench, environment: { ...bench.environment, OPENAI_API_KEY: key } });
  const lease = await ensureIn(bench);
  const { pid } = toServerProcess(bench);
  const command = execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  expect(command).toContain("--ip 127.0.0.1");
  expect(command).toContain("--dynamic-config-value frontend.WorkerCommandsEnabled=true");
  expect(command).toContain("--dynamic-config-value system.enableCancelActivityWorkerCommand=true");
  expect((await fetch(lease.uiUrl ?? "")).status).toBe(200);
  for (const found of [pid, toParent(pid)]) expect(readEnvironment(found)).not.toContain(key);
  await Promise.all([holder.release(), lease.release()]);
}, 60_000);

test("its folder is the user's alone, and its log is bounded while it is written", async () => {
  const { folder, serverLog } = toDevServerFiles(bench.stateFolder.devServer);
  const lease = await ensureIn(bench);
  expect(statSync(folder).mode & 0o077).toBe(0);
  writeFileSync(serverLog, "x".repeat(6 * 1024 * 1024), { flag: "a" });
  await until(
    "the log to be moved away",
    () => existsSync(`${serverLog}.1`) && statSync(serverLog).size < 1e6,
  );
  await lease.release();
}, 60_000);

test("a state folder with a very long path works, and so do two names of one folder", async () => {
  const long = { ...bench.environment, XDG_STATE_HOME: `${bench.root}/${"long/".repeat(30)}` };
  const stateFolder = { ...bench.stateFolder, devServer: `${long.XDG_STATE_HOME}dev-server` };
  const nested = { ...bench, stateFolder };
  const [first, second] = await Promise.all([ensureIn(nested), ensureIn(nested)]);
  expect(first.address).toBe(second.address);
  const dotted = { ...stateFolder, devServer: `${long.XDG_STATE_HOME}./dev-server` };
  expect((await ensureIn({ ...nested, stateFolder: dotted })).address).toBe(first.address);
  await Promise.all(bench.leases.map((lease) => lease.release()));
  const server = toServerProcess(nested);
  await until("the server's end", () => !isProcessAlive(server));
}, 60_000);

function toParent(pid: number): number {
  return Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));
}

/** What a process was started with; where the system does not tell, its command line alone. */
function readEnvironment(pid: number): string {
  return execFileSync("ps", ["eww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" });
}
