import { readFileSync } from "node:fs";
import { isProcessAlive } from "../../activities/processes/process-identity.ts";
import type { StateFolder } from "../../core/state-folder.ts";
import { readConfiguredServer } from "../server/configured-server.ts";
import { readRecord, toDevServerFiles } from "../server/dev-server-files.ts";
import { readUsualPorts } from "../server/ensure-server.ts";
import { isPortOpen } from "../server/ports.ts";
import type { ServerConnectionOptions } from "../server/probe-server.ts";

/** A server that a command would use, and why that one. */
export interface FoundServer {
  connectionOptions: ServerConnectionOptions & { address: string };
  address: string;
  namespace: string;
  why: string;
  kind: "configured" | "ours" | "usual-port";
  /** The process of our own dev server. */
  pid?: number;
}

export interface ServerLook {
  environment: NodeJS.ProcessEnv;
  stateFolder: StateFolder;
  profile?: string | undefined;
  /** What the address was given by, if not by the environment, such as `--address`. */
  addressFrom?: string | undefined;
}

/**
 * Find the server that a command would use, in the same order, without starting or touching anything. Undefined if none is configured and none runs.
 *
 * @throws ServerError Server.Configuration
 */
export async function lookForServer(look: ServerLook): Promise<FoundServer | undefined> {
  const { environment, stateFolder, profile } = look;
  const configured = readConfiguredServer(environment, profile);
  if (configured !== undefined) {
    const { address } = configured.connectionOptions;
    return { ...configured, address, why: explainConfigured(look), kind: "configured" };
  }
  const namespace = environment.TEMPORAL_NAMESPACE || "default";
  const record = readRecord(toDevServerFiles(stateFolder.devServer).record);
  if (record?.server !== undefined && isProcessAlive(record.server)) {
    const address = `127.0.0.1:${record.port}`;
    const why = "the dev server of this state folder, which runs";
    return { connectionOptions: { address }, address, namespace, why, kind: "ours", pid: record.server.pid };
  }
  const { port } = readUsualPorts(environment);
  if (port === 0 || !(await isPortOpen(port))) return undefined;
  const address = `127.0.0.1:${port}`;
  const why = "none is configured, and something listens there";
  return { connectionOptions: { address }, address, namespace, why, kind: "usual-port" };
}

function explainConfigured({ environment, profile, addressFrom }: ServerLook): string {
  if (addressFrom !== undefined) return addressFrom;
  if (environment.TEMPORAL_ADDRESS) return "TEMPORAL_ADDRESS";
  const asked = profile ?? environment.TEMPORAL_PROFILE;
  return asked ? `profile ${asked} of the Temporal configuration` : "the Temporal configuration file";
}

/** The words that a process was started with; undefined where the system does not tell. */
export function readCommandLine(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return undefined;
  }
}
