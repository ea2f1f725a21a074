import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import path from "node:path";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { toDevServerFiles, toSocketPath } from "./dev-server-files.ts";
import type { ServerPorts } from "./ports.ts";
import { ServerError } from "./server-error.ts";
import { readLogTail } from "./server-log.ts";
import {
  EXIT_BUSY,
  type SupervisorMessage,
  type SupervisorSettings,
  supervisorMessageSchema,
} from "./supervisor-messages.ts";

const READY_TIMEOUT_MS = 60_000;
const RETRY_MS = 100;

/** A connection to a supervisor whose server accepts connections. */
export interface SupervisorLease {
  ports: ServerPorts;
  socket: Socket;
  /** What the supervisor says later on. */
  lines: Interface;
}

/** Take a lease from the supervisor that runs; undefined if none does. */
export async function joinSupervisor(folder: string): Promise<SupervisorLease | undefined> {
  const socket = createConnection(toSocketPath(folder));
  const lines = createInterface({ input: socket });
  // Both report the socket's error; its close, which follows, is what is acted on.
  for (const emitter of [socket, lines]) emitter.on("error", () => undefined);
  const message = await readFirstMessage(socket, lines);
  if (message?.kind === "ready") {
    return { ports: { port: message.port, uiPort: message.uiPort }, socket, lines };
  }
  socket.destroy();
  if (message?.kind === "failed") throw new ServerError("Server.NotStarted", message.reason);
  return undefined;
}

/**
 * Take a lease, and start a supervisor as long as there is none. Where several do so at once, one supervisor stays.
 *
 * @throws ServerError Server.NotStarted
 */
export async function startSupervisor(settings: SupervisorSettings): Promise<SupervisorLease> {
  const { supervisorLog } = toDevServerFiles(settings.folder);
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let child: ChildProcess | undefined;
  while (Date.now() < deadline) {
    const joined = await joinSupervisor(settings.folder);
    if (joined !== undefined) return joined;
    if (child === undefined || child.exitCode === EXIT_BUSY) {
      child = spawnSupervisor(settings, supervisorLog);
    } else if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
      break;
    }
    await sleep(RETRY_MS);
  }
  throw new ServerError(
    "Server.NotStarted",
    `the dev server's supervisor did not start; the end of ${supervisorLog} says:\n${readLogTail(supervisorLog)}`,
  );
}

function spawnSupervisor(settings: SupervisorSettings, logFile: string): ChildProcess {
  const here = fileURLToPath(import.meta.url);
  const script = path.join(path.dirname(here), `supervisor${path.extname(here)}`);
  const log = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
      cwd: settings.folder,
      env: toServerEnvironment(process.env),
      stdio: ["ignore", log, log],
      detached: true,
    });
    child.once("error", () => child.unref());
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

/** Keys of providers, settings of Temporal's clients and options for this process are nothing for one that outlives it. */
function toServerEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "NODE_COMPILE_CACHE"];
  return Object.fromEntries(kept.map((name) => [name, environment[name]]));
}

/** Read a line that a supervisor wrote. */
export function parseSupervisorMessage(line: string): SupervisorMessage {
  return supervisorMessageSchema.parse(JSON.parse(line));
}

/** The first line that the supervisor writes; undefined if there is no supervisor or it closes without a word. */
function readFirstMessage(socket: Socket, lines: Interface): Promise<SupervisorMessage | undefined> {
  const { promise, resolve } = Promise.withResolvers<SupervisorMessage | undefined>();
  socket.once("close", () => resolve(undefined));
  socket.setTimeout(READY_TIMEOUT_MS, () => resolve(undefined));
  lines.once("line", (line) => {
    socket.setTimeout(0);
    resolve(parseSupervisorMessage(line));
  });
  return promise;
}
