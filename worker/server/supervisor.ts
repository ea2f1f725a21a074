/**
 * Own the dev server of one state folder: start it, restart it if it ends by itself, and stop it when the last lease is gone. A
 * process of its own, so that it outlives the command that started it; a lease is a connection to its socket, which the system
 * closes when a lease's process ends in whatever way.
 */
import { rmSync, truncateSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { isProcessAlive } from "../../activities/processes/process-identity.ts";
import { toDevServerFiles, toSocketPath } from "./dev-server-files.ts";
import { toErrorText } from "./server-error.ts";
import { rotateLog } from "./server-log.ts";
import { adoptServer, type RunningServer, startServer, stopServer } from "./supervised-server.ts";
import { EXIT_BUSY, type SupervisorMessage, supervisorSettingsSchema } from "./supervisor-messages.ts";

/** The one that started this process comes first; it may be slow. */
const FIRST_LEASE_MS = 30_000;
/** Commands that follow one another share a server. */
const GRACE_MS = 2_000;
const WATCH_MS = 500;
/** A server that can't stay up must not be started for ever. */
const MAX_RESTARTS = 3;
const RESTART_WINDOW_MS = 60_000;

const settings = supervisorSettingsSchema.parse(JSON.parse(process.argv[2] ?? ""));
const files = toDevServerFiles(settings.folder);
const socketPath = toSocketPath(settings.folder);
const leases = new Set<Socket>();
const restarts: number[] = [];
let server: RunningServer | undefined;
let stopTimer: NodeJS.Timeout | undefined;
let watchTimer: NodeJS.Timeout | undefined;
let isEnding = false;

// The system drops the lock with this process, however it ends.
const lock = takeLock();
truncateSync(files.supervisorLog);
const listener = await listen();
armStop(FIRST_LEASE_MS);
for (const name of ["SIGTERM", "SIGINT"] as const) {
  process.on(name, () => void end(`the dev server's supervisor got ${name}`));
}
process.on(
  "uncaughtException",
  (error) => void end(`the dev server's supervisor failed: ${toErrorText(error)}`),
);
let bringing = bringUp();

function takeLock(): DatabaseSync {
  const database = new DatabaseSync(files.lock);
  try {
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch {
    process.exit(EXIT_BUSY);
  }
}

function listen(): Promise<Server> {
  // Only the holder of the lock comes here, so this is left from a supervisor that was killed.
  rmSync(socketPath, { force: true });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const created = createServer(addLease);
  created.once("error", reject);
  created.listen(socketPath, () => resolve(created));
  return promise;
}

function addLease(lease: Socket): void {
  if (isEnding) {
    lease.destroy();
    return;
  }
  leases.add(lease);
  clearTimeout(stopTimer);
  lease.on("error", () => lease.destroy());
  lease.on("close", () => {
    leases.delete(lease);
    if (leases.size === 0) armStop(GRACE_MS);
  });
  lease.resume();
  if (server !== undefined) tell(lease, { kind: "ready", ...server.ports });
}

function armStop(delayMs: number): void {
  clearTimeout(stopTimer);
  stopTimer = setTimeout(() => void end("no one needs the dev server any more"), delayMs);
}

function tell(lease: Socket, message: SupervisorMessage): void {
  lease.write(`${JSON.stringify(message)}\n`);
}

/** Adopt or start the server, and tell every lease where it is. */
async function bringUp(): Promise<void> {
  try {
    server = (await adoptServer(files)) ?? (await startServer({ ...settings, files }));
  } catch (error) {
    void end(toErrorText(error));
    return;
  }
  for (const lease of leases) tell(lease, { kind: "ready", ...server.ports });
  watchTimer = setInterval(() => watch(), WATCH_MS);
}

function watch(): void {
  rotateLog(files.serverLog);
  if (isEnding || server === undefined || isProcessAlive(server.identity)) return;
  clearInterval(watchTimer);
  server = undefined;
  const since = Date.now() - RESTART_WINDOW_MS;
  restarts.push(Date.now());
  if (restarts.filter((at) => at > since).length > MAX_RESTARTS) {
    void end(`Temporal's dev server ended ${restarts.length} times; see ${files.serverLog}`);
  } else {
    bringing = bringUp();
  }
}

async function end(reason: string): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  process.stderr.write(`${reason}\n`);
  clearTimeout(stopTimer);
  // From here on no one can come; those that wait are told, and a new supervisor waits for the lock.
  listener.close();
  for (const lease of leases) {
    tell(lease, { kind: "failed", reason });
    lease.end();
  }
  // A server that is just being started must not be left behind.
  await bringing;
  clearInterval(watchTimer);
  if (server !== undefined) await stopServer(server);
  lock.close();
  process.exit(0);
}
