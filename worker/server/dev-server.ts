import { realpathSync } from "node:fs";
import { isProcessAlive } from "../../activities/processes/process-identity.ts";
import type { StateFolder } from "../../core/state-folder.ts";
import {
  type DevServerFiles,
  makeDevServerFolder,
  readRecord,
  toDevServerFiles,
} from "./dev-server-files.ts";
import { findBinary } from "./find-binary.ts";
import type { ServerPorts } from "./ports.ts";
import { makeNamespace } from "./prepare-namespace.ts";
import { waitUntilServing, withConnection } from "./probe-server.ts";
import { ServerError, toErrorText } from "./server-error.ts";
import { readLogTail } from "./server-log.ts";
import {
  joinSupervisor,
  parseSupervisorMessage,
  type SupervisorLease,
  startSupervisor,
} from "./supervisor-lease.ts";

export interface DevServerOptions {
  environment: NodeJS.ProcessEnv;
  stateFolder: StateFolder;
  usualPorts: ServerPorts;
  namespace: string;
  log: (line: string) => void;
  /** The server is gone for good while the lease was held. */
  onLost: (reason: string) => void;
}

export interface DevServerLease {
  ports: ServerPorts;
  release(): Promise<void>;
}

const SERVING_TIMEOUT_MS = 60_000;

/** Make the dev server's folder, and find its files under the one true path of it. */
function openDevServerFolder(stateFolder: StateFolder): DevServerFiles {
  makeDevServerFolder(stateFolder.devServer);
  return toDevServerFiles(realpathSync(stateFolder.devServer));
}

/** Take a lease on the dev server if it runs; undefined if it does not. */
export async function joinDevServer(options: DevServerOptions): Promise<DevServerLease | undefined> {
  const files = openDevServerFolder(options.stateFolder);
  const joined = await joinSupervisor(files.folder);
  if (joined !== undefined) return toLease(options, files, joined);
  const server = readRecord(files.record)?.server;
  // Its supervisor was killed: another one takes it over.
  return server !== undefined && isProcessAlive(server) ? startDevServer(options) : undefined;
}

/** Take a lease on the dev server, and start it if it does not run. */
export async function startDevServer(options: DevServerOptions): Promise<DevServerLease> {
  const files = openDevServerFolder(options.stateFolder);
  return toLease(options, files, await start(options, files));
}

async function toLease(
  options: DevServerOptions,
  files: DevServerFiles,
  joined: SupervisorLease,
): Promise<DevServerLease> {
  try {
    await waitUntilReady(joined.ports, options.namespace, files);
  } catch (error) {
    joined.socket.destroy();
    throw error;
  }
  return holdLease(options, files, joined);
}

async function start(options: DevServerOptions, files: DevServerFiles): Promise<SupervisorLease> {
  const { environment, stateFolder, usualPorts, log } = options;
  const binary = await findBinary({ environment, folder: stateFolder.bin, log });
  return startSupervisor({ folder: files.folder, binary, usualPorts });
}

async function waitUntilReady(
  { port }: ServerPorts,
  namespace: string,
  files: DevServerFiles,
): Promise<void> {
  const address = `127.0.0.1:${port}`;
  try {
    await waitUntilServing(address, SERVING_TIMEOUT_MS);
    await withConnection({ address }, (connection) => makeNamespace(connection, namespace));
  } catch (error) {
    const tail = readLogTail(files.serverLog);
    throw new ServerError(
      "Server.NotStarted",
      `the dev server at ${address} does not serve (${toErrorText(error)}); the end of ${files.serverLog} says:\n${tail}`,
      error,
    );
  }
}

/**
 * Hold the lease until it is released or this process ends. If the supervisor is killed, another one is started, which takes the
 * server over before it can be orphaned.
 */
function holdLease(options: DevServerOptions, files: DevServerFiles, first: SupervisorLease): DevServerLease {
  let current = first;
  let isReleased = false;
  let lostReason: string | undefined;
  const watch = () => {
    current.lines.on("line", (line) => {
      const message = parseSupervisorMessage(line);
      if (message.kind === "failed") lostReason = message.reason;
      else if (message.port !== first.ports.port) lostReason = `the dev server moved to port ${message.port}`;
    });
    current.socket.once("close", () => void rejoin());
  };
  const rejoin = async () => {
    if (isReleased) return;
    try {
      if (lostReason !== undefined) throw new Error(lostReason);
      current = (await joinSupervisor(files.folder)) ?? (await start(options, files));
      if (isReleased) current.socket.destroy();
      else if (current.ports.port === first.ports.port) return watch();
      else throw new Error(`the dev server moved to port ${current.ports.port}`);
    } catch (error) {
      if (!isReleased) options.onLost(toErrorText(error));
    }
  };
  watch();
  return {
    ports: first.ports,
    release: async () => {
      if (isReleased) return;
      isReleased = true;
      current.socket.destroy();
    },
  };
}
