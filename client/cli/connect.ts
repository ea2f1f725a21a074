import { Client, Connection } from "@temporalio/client";
import { ensureServer, type ServerLease } from "../../worker/server/ensure-server.ts";
import { SessionClient } from "../session-client.ts";
import type { Host } from "./host.ts";

/** Flags that say which server is meant. */
export interface ServerFlags {
  address?: string;
  namespace?: string;
  profile?: string;
}

/** A server and what to work with it. */
export interface Connected {
  lease: ServerLease;
  client: Client;
  sessions: SessionClient;
  /** Flags as an environment, for another process that must find the same server. */
  environment: NodeJS.ProcessEnv;
  /** Address of a session in Temporal Web, where it is known. */
  toWebAddress(sessionId: string): string | undefined;
  release(): Promise<void>;
}

/** Find the server that is meant or start one, and connect to it. @throws ServerError that says what to do. */
export async function connect(flags: ServerFlags, host: Host): Promise<Connected> {
  const environment = toServerEnvironment(flags, host.environment);
  const lease = await ensureServer({
    environment,
    stateFolder: host.stateFolder,
    ...(flags.profile === undefined ? {} : { profile: flags.profile }),
    log: (line) => host.output.say(line),
  });
  let connection: Connection;
  try {
    connection = await Connection.connect(lease.connectionOptions);
  } catch (error) {
    await lease.release();
    throw error;
  }
  const client = new Client({ connection, namespace: lease.namespace });
  return {
    lease,
    client,
    sessions: new SessionClient(client),
    environment,
    toWebAddress: (sessionId) =>
      lease.uiUrl === undefined
        ? undefined
        : `${lease.uiUrl.replace(/\/$/, "")}/namespaces/${encodeURIComponent(lease.namespace)}/workflows/${encodeURIComponent(sessionId)}`,
    async release() {
      await connection.close().catch(() => undefined);
      await lease.release();
    },
  };
}

/** Flags rank above the environment. */
export function toServerEnvironment(flags: ServerFlags, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...environment,
    ...(flags.address === undefined ? {} : { TEMPORAL_ADDRESS: flags.address }),
    ...(flags.namespace === undefined ? {} : { TEMPORAL_NAMESPACE: flags.namespace }),
  };
}
