import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Connection } from "@temporalio/client";
import { isProcessAlive, type ProcessIdentity } from "../../activities/processes/process-identity.ts";
import { type StateFolder, toStateFolder } from "../../core/state-folder.ts";
import { type DevServerRecord, readRecord, toDevServerFiles } from "../../worker/server/dev-server-files.ts";
import { ensureServer, type ServerLease } from "../../worker/server/ensure-server.ts";
import { findTemporalBinary } from "../support/temporal-binary.ts";

/** A state folder of its own, with Temporal's program fetched already. */
export interface ServerBench {
  root: string;
  stateFolder: StateFolder;
  environment: NodeJS.ProcessEnv;
  leases: ServerLease[];
  holders: LeaseHolder[];
  lines: string[];
}

/** A command that holds a lease, in a process of its own. */
export interface LeaseHolder {
  child: ChildProcess;
  address: string;
  /** Reports of a lost server. */
  losses: string[];
  release(): Promise<void>;
  kill(): Promise<void>;
}

const HOLDER = fileURLToPath(new URL("./hold-lease.ts", import.meta.url));

export async function makeBench(name = "server-"): Promise<ServerBench> {
  const root = mkdtempSync(path.join(tmpdir(), name));
  const environment = { ...toCleanEnvironment(), XDG_STATE_HOME: root, SUBAGENTS_SERVER_PORT: "0" };
  const stateFolder = toStateFolder(environment, undefined);
  const folder = path.join(stateFolder.bin, "1.9.1");
  mkdirSync(folder, { recursive: true });
  symlinkSync(await findTemporalBinary(), path.join(folder, "temporal"));
  return { root, stateFolder, environment, leases: [], holders: [], lines: [] };
}

/** This process's environment without what would make the search for a server depend on the machine. */
function toCleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(TEMPORAL|SUBAGENTS|XDG|NODE)_/.test(name),
  );
  return Object.fromEntries(entries);
}

/** Take a lease in this process; it is released with the bench. */
export async function ensureIn(
  bench: ServerBench,
  environment: NodeJS.ProcessEnv = {},
  profile?: string,
): Promise<ServerLease> {
  const lease = await ensureServer({
    environment: { ...bench.environment, ...environment },
    stateFolder: bench.stateFolder,
    ...(profile === undefined ? {} : { profile }),
    log: (line) => bench.lines.push(line),
  });
  bench.leases.push(lease);
  return lease;
}

/** Wait until everything that a test started is gone, then remove the bench. */
export async function removeBench(bench: ServerBench): Promise<void> {
  const { root, stateFolder, leases, holders } = bench;
  await Promise.all(holders.map((holder) => holder.release()));
  await Promise.all(leases.map((lease) => lease.release()));
  const identity = readDevServer(stateFolder)?.server;
  if (identity) await until("the dev server's end", () => !isProcessAlive(identity), 30_000);
  // The supervisor ends a moment after its server.
  await until("an unused folder", () => tryRemove(root));
}

function tryRemove(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

export async function holdLease({ environment, holders }: ServerBench): Promise<LeaseHolder> {
  const child = spawn(process.execPath, [HOLDER], { env: environment, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const losses: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.once("exit", (code) => reject(new Error(`the holder ended with ${code}`)));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as { address?: string; lost?: string; error?: string };
    if (event.address !== undefined) resolve(event.address);
    if (event.lost !== undefined) losses.push(event.lost);
    if (event.error !== undefined) reject(new Error(event.error));
  });
  const end = async (how: () => void) => {
    how();
    await exited;
  };
  const holder = {
    child,
    address: await promise,
    losses,
    release: () => end(() => child.stdin.end()),
    kill: () => end(() => child.kill("SIGKILL")),
  };
  holders.push(holder);
  return holder;
}

function readDevServer(stateFolder: StateFolder): DevServerRecord | undefined {
  return readRecord(toDevServerFiles(stateFolder.devServer).record);
}

/** The dev server's process, which must be on record. */
export function toServerProcess({ stateFolder }: ServerBench): ProcessIdentity {
  const identity = readDevServer(stateFolder)?.server;
  if (identity === undefined) throw new Error("no dev server is on record");
  return identity;
}

export async function isAnswering(address: string): Promise<boolean> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: "2s" });
    try {
      await connection.workflowService.describeNamespace({ namespace: "default" });
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
}

/** Wait for a condition. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await sleep(20);
  }
}
