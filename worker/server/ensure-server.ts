import type { StateFolder } from "../../core/state-folder.ts";
import { checkConfiguredServer, checkNamespaceName, readConfiguredServer } from "./configured-server.ts";
import { type DevServerLease, joinDevServer, startDevServer } from "./dev-server.ts";
import { isPortOpen, type ServerPorts, USUAL_PORTS } from "./ports.ts";
import { hasUsableSearchAttributes } from "./prepare-namespace.ts";
import { isTemporalAt, type ServerConnectionOptions, withConnection } from "./probe-server.ts";
import { ServerError, toErrorText } from "./server-error.ts";

export interface EnsureServerOptions {
  environment: NodeJS.ProcessEnv;
  stateFolder: StateFolder;
  /** A profile of the usual Temporal configuration file. */
  profile?: string;
  log: (line: string) => void;
  /** Called at most once, if the server is gone for good while the lease is held. */
  onLost?: (reason: string) => void;
}

/** The right to use a server. It ends with `release()` or with the process, in whatever way that ends. */
export interface ServerLease {
  /** For `Connection.connect` and `NativeConnection.connect`. */
  connectionOptions: ServerConnectionOptions;
  address: string;
  namespace: string;
  /** Temporal Web, where it is known. */
  uiUrl?: string;
  /** Whether workflows may set the search attributes of `core/search-attributes.ts`. */
  hasSearchAttributes: boolean;
  /** Whether it is the state folder's own dev server, which stops a moment after its last lease. */
  isOurs: boolean;
  /** Give the lease back. A no-op the second time. */
  release(): Promise<void>;
}

/**
 * Find a Temporal server, or start one: a configured one; the state folder's dev server or one at 127.0.0.1:7233, if it runs; else
 * the dev server is started. Only the dev server is ever stopped, and only when no one holds a lease on it any more.
 *
 * @throws ServerError which ends a command with exit code 2.
 */
export async function ensureServer(options: EnsureServerOptions): Promise<ServerLease> {
  const configured = readConfiguredServer(options.environment, options.profile);
  if (configured !== undefined) {
    await checkConfiguredServer(configured);
    return toLease(configured.connectionOptions, configured.namespace, options.log);
  }
  const namespace = options.environment.TEMPORAL_NAMESPACE || "default";
  checkNamespaceName(namespace);
  const usualPorts = readUsualPorts(options.environment);
  const devServer = {
    ...options,
    usualPorts,
    namespace,
    onLost: options.onLost ?? ((reason: string) => options.log(`the Temporal server is gone: ${reason}`)),
  };
  const running = await joinDevServer(devServer);
  if (running !== undefined) return toOurLease(running, namespace, options.log);
  const address = toAddress(usualPorts);
  if ((await isPortOpen(usualPorts.port)) && (await isTemporalAt(address, namespace))) {
    const uiUrl = (await isPortOpen(usualPorts.uiPort)) ? toUrl(usualPorts.uiPort) : undefined;
    return toLease({ address }, namespace, options.log, uiUrl);
  }
  return toOurLease(await startDevServer(devServer), namespace, options.log);
}

/**
 * Read SUBAGENTS_SERVER_PORT: where a server is looked for and the dev server is started; its Temporal Web is at 1000 above.
 * 0 looks for none and takes any free ports.
 */
export function readUsualPorts(environment: NodeJS.ProcessEnv): ServerPorts {
  const text = environment.SUBAGENTS_SERVER_PORT ?? "";
  if (text === "") return USUAL_PORTS;
  const port = Number(text);
  if (!/^\d+$/.test(text) || (port !== 0 && port < 1024) || port > 64_535) {
    throw new ServerError(
      "Server.Configuration",
      `SUBAGENTS_SERVER_PORT is ${JSON.stringify(text)}: write a port from 1024 to 64535, or 0 for any that is free`,
    );
  }
  return { port, uiPort: port === 0 ? 0 : port + 1_000 };
}

async function toOurLease(
  lease: DevServerLease,
  namespace: string,
  log: (line: string) => void,
): Promise<ServerLease> {
  const address = toAddress(lease.ports);
  const found = await toLease({ address }, namespace, log, toUrl(lease.ports.uiPort));
  return { ...found, isOurs: true, release: lease.release };
}

async function toLease(
  connectionOptions: ServerConnectionOptions & { address: string },
  namespace: string,
  log: (line: string) => void,
  uiUrl?: string,
): Promise<ServerLease> {
  return {
    connectionOptions,
    address: connectionOptions.address,
    namespace,
    ...(uiUrl === undefined ? {} : { uiUrl }),
    hasSearchAttributes: await checkSearchAttributes(connectionOptions, namespace, log),
    isOurs: false,
    release: async () => undefined,
  };
}

async function checkSearchAttributes(
  connectionOptions: ServerConnectionOptions,
  namespace: string,
  log: (line: string) => void,
): Promise<boolean> {
  try {
    return await withConnection(connectionOptions, (connection) =>
      hasUsableSearchAttributes(connection, namespace, log),
    );
  } catch (error) {
    log(`search attributes are not used: ${toErrorText(error)}`);
    return false;
  }
}

function toAddress({ port }: ServerPorts): string {
  return `127.0.0.1:${port}`;
}

function toUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
