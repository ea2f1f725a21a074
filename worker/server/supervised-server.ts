import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  identifyProcess,
  isProcessAlive,
  type ProcessIdentity,
} from "../../activities/processes/process-identity.ts";
import { SEARCH_ATTRIBUTES } from "../../core/search-attributes.ts";
import { type DevServerFiles, readRecord, writeRecord } from "./dev-server-files.ts";
import { chooseFreePorts, isPortOpen, type ServerPorts } from "./ports.ts";
import { readLogTail, toFileSize } from "./server-log.ts";

/** A server process, started here or by a supervisor that was killed. */
export interface RunningServer {
  ports: ServerPorts;
  identity: ProcessIdentity;
}

export interface ServerStart {
  files: DevServerFiles;
  /** Temporal's command line. */
  binary: string;
  usualPorts: ServerPorts;
}

const OPEN_TIMEOUT_MS = 45_000;
const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 50;
/** A server that does not print its address in the usual form has met a port that is taken well within this time. */
const NOTICE_MS = 10_000;
const MAX_TRIES = 5;

/** Both together let the server push a cancellation to a worker at once instead of with the next heartbeat's answer. */
const DYNAMIC_CONFIG = [
  "frontend.WorkerCommandsEnabled=true",
  "system.enableCancelActivityWorkerCommand=true",
];

/** Take over the server of a supervisor that was killed, if it still runs: others may be working with it. */
export async function adoptServer(files: DevServerFiles): Promise<RunningServer | undefined> {
  const record = readRecord(files.record);
  if (record?.server === undefined || !isProcessAlive(record.server)) return undefined;
  const adopted = { ports: { port: record.port, uiPort: record.uiPort }, identity: record.server };
  if (await waitForPort(adopted, () => true)) return adopted;
  // It must not write to the database beside the one that is started next.
  await stopServer(adopted);
  return undefined;
}

/**
 * Start the server at the ports that it had last, else at the usual ones, else at free ones.
 *
 * @throws Error with the last lines of its log.
 */
export async function startServer(start: ServerStart): Promise<RunningServer> {
  const { files, usualPorts } = start;
  const last = readRecord(files.record);
  let candidates = last === undefined ? [usualPorts] : [last, usualPorts];
  for (let attempt = 1; ; attempt++) {
    const logStart = toFileSize(files.serverLog);
    const { port, uiPort } = await chooseFreePorts(candidates);
    const started = spawnServer(start, { port, uiPort });
    const startedAt = Date.now();
    // The open port may be that of another process, which took it first, as long as the server has not noticed.
    const isItsOwn = () =>
      readLogTail(files.serverLog, logStart).includes(`:${port}\n`) || Date.now() - startedAt > NOTICE_MS;
    if (await waitForPort(started, isItsOwn)) return started;
    await stopServer(started);
    const tail = readLogTail(files.serverLog, logStart);
    // Another process was quicker: the ports that were meant are no longer to be had.
    if (attempt === MAX_TRIES || !tail.includes("address already in use")) {
      const said = tail === "" ? "and said nothing" : `and the end of ${files.serverLog} says:\n${tail}`;
      throw new Error(`Temporal's dev server did not start, ${said}`);
    }
    candidates = [];
  }
}

function spawnServer({ files, binary }: ServerStart, ports: ServerPorts): RunningServer {
  const log = openSync(files.serverLog, "a", 0o600);
  let child: ChildProcess;
  try {
    child = spawn(binary, toArguments(files, ports), {
      cwd: files.folder,
      stdio: ["ignore", log, log],
      detached: true,
    });
  } finally {
    closeSync(log);
  }
  child.once("error", (error) => process.stderr.write(`${error.message}\n`));
  if (child.pid === undefined) throw new Error(`${binary} can't be run`);
  const identity = identifyProcess(child.pid) ?? { pid: child.pid, startTime: "", host: "" };
  try {
    writeRecord(files.record, { ...ports, server: identity });
  } catch (error) {
    // A server that no record leads to could not be found again.
    child.kill("SIGKILL");
    throw error;
  }
  return { ports, identity };
}

function toArguments(files: DevServerFiles, { port, uiPort }: ServerPorts): string[] {
  return [
    ["server", "start-dev", "--ip", "127.0.0.1", "--port", `${port}`, "--ui-port", `${uiPort}`],
    ["--db-filename", files.database, "--log-level", "warn"],
    DYNAMIC_CONFIG.flatMap((value) => ["--dynamic-config-value", value]),
    SEARCH_ATTRIBUTES.flatMap(({ name }) => ["--search-attribute", `${name}=Keyword`]),
  ].flat();
}

/** Wait until the server accepts connections; false if it ended before, or is too slow. */
async function waitForPort(server: RunningServer, isItsOwn: () => boolean): Promise<boolean> {
  const deadline = Date.now() + OPEN_TIMEOUT_MS;
  while (Date.now() < deadline && isProcessAlive(server.identity)) {
    if (isItsOwn() && (await isPortOpen(server.ports.port))) return isProcessAlive(server.identity);
    await sleep(POLL_MS);
  }
  return false;
}

/** Stop the server and wait for its end. A no-op if it has ended. */
export async function stopServer({ identity }: RunningServer): Promise<void> {
  signal(identity, "SIGTERM");
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (Date.now() < deadline && isProcessAlive(identity)) await sleep(POLL_MS);
  signal(identity, "SIGKILL");
  while (isProcessAlive(identity)) await sleep(POLL_MS);
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isProcessAlive(identity)) return;
  try {
    process.kill(identity.pid, name);
  } catch {
    // It ended in the same instant.
  }
}
