import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { isProcessAlive } from "../../activities/processes/process-identity.ts";
import { joinSupervisor } from "../../worker/server/supervisor-lease.ts";
import {
  holdLease,
  isAnswering,
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

/** Processes of this bench whose command line has a word. */
function listProcesses(word: string): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,args="], { encoding: "utf8" }).split("\n");
  return lines
    .filter((line) => line.includes(word) && line.includes(bench.stateFolder.devServer))
    .map((line) => Number.parseInt(line, 10));
}

const listServers = () => listProcesses("start-dev");
const listSupervisors = () => listProcesses("supervisor");

function killSupervisor(): void {
  const [pid] = listSupervisors();
  if (pid === undefined) throw new Error("there is no supervisor");
  process.kill(pid, "SIGKILL");
}

describe("runs that share a dev server", () => {
  test("three that start at once share one server and one supervisor", async () => {
    const holders = await Promise.all([holdLease(bench), holdLease(bench), holdLease(bench)]);
    expect(new Set(holders.map(({ address }) => address)).size).toBe(1);
    expect(listServers()).toHaveLength(1);
    await until("the supervisors that were not needed to end", () => listSupervisors().length === 1);
    await Promise.all(holders.map((holder) => holder.release()));
  }, 60_000);

  test("one that ends leaves the server to the other, and the last one's end stops it", async () => {
    const [first, second] = [await holdLease(bench), await holdLease(bench)];
    const server = toServerProcess(bench);
    await first.release();
    // Longer than the time for which a server without leases is kept.
    await until("the grace to pass", passed(3_000));
    expect(await isAnswering(second.address)).toBe(true);
    await second.release();
    await until("the server's end", () => !isProcessAlive(server));
    await until("the supervisor's end", () => listSupervisors().length === 0);
  }, 60_000);

  test("one that is killed neither stops the server under the other nor keeps it for ever", async () => {
    const [first, second] = [await holdLease(bench), await holdLease(bench)];
    const server = toServerProcess(bench);
    await first.kill();
    await until("the grace to pass", passed(3_000));
    expect(await isAnswering(second.address)).toBe(true);
    await second.kill();
    await until("the server's end", () => !isProcessAlive(server));
  }, 60_000);

  test("one that starts while the server is being stopped gets a new one at the same address", async () => {
    const first = await holdLease(bench);
    const server = toServerProcess(bench);
    await first.release();
    await until("the stop to begin", () => readSupervisorLog().includes("no one needs"));
    const second = await holdLease(bench);
    expect(second.address).toBe(first.address);
    expect(isProcessAlive(server)).toBe(false);
    expect(await isAnswering(second.address)).toBe(true);
    expect(listServers()).toHaveLength(1);
    await second.release();
  }, 60_000);
});

describe("a process of the dev server that is killed", () => {
  test("a killed supervisor is replaced by one that takes the same server over", async () => {
    const holder = await holdLease(bench);
    const server = toServerProcess(bench);
    const [killed] = listSupervisors();
    killSupervisor();
    await until("another supervisor", () => listSupervisors().some((pid) => pid !== killed));
    const second = await holdLease(bench);
    expect(toServerProcess(bench)).toEqual(server);
    expect(second.address).toBe(holder.address);
    expect(holder.losses).toEqual([]);
    await Promise.all([holder.release(), second.release()]);
    await until("the server's end", () => !isProcessAlive(server));
  }, 60_000);

  test("a server left by a killed supervisor and killed runs is taken over by the next run and ends with it", async () => {
    const holder = await holdLease(bench);
    const server = toServerProcess(bench);
    holder.child.kill("SIGSTOP");
    killSupervisor();
    await holder.kill();
    expect(isProcessAlive(server)).toBe(true);
    const next = await holdLease(bench);
    expect(toServerProcess(bench)).toEqual(server);
    expect(next.address).toBe(holder.address);
    await next.release();
    await until("the server's end", () => !isProcessAlive(server));
  }, 60_000);

  test("a killed server is started again at the same address for those that hold a lease", async () => {
    const holder = await holdLease(bench);
    const server = toServerProcess(bench);
    process.kill(server.pid, "SIGKILL");
    await until("another server", () => toServerProcess(bench).pid !== server.pid);
    await until("its answer", () => isAnswering(holder.address));
    expect(holder.losses).toEqual([]);
    await holder.release();
  }, 60_000);

  test("a server that can't stay up is reported as lost", async () => {
    const holder = await holdLease(bench);
    for (let kill = 0; kill < 4; kill++) {
      // A supervisor that has seen its server up hands out leases.
      const lease = await joinSupervisor(realpathSync(bench.stateFolder.devServer));
      lease?.socket.destroy();
      const { pid } = toServerProcess(bench);
      process.kill(pid, "SIGKILL");
      if (kill < 3) await until("another server", () => toServerProcess(bench).pid !== pid);
    }
    await until("the report", () => holder.losses.length > 0);
    expect(holder.losses).toEqual([expect.stringContaining("ended 4 times")]);
    await holder.release();
  }, 60_000);
});

function readSupervisorLog(): string {
  return readFileSync(`${bench.stateFolder.devServer}/supervisor.log`, "utf8");
}

function passed(durationMs: number): () => boolean {
  const end = Date.now() + durationMs;
  return () => Date.now() > end;
}
