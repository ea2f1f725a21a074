import { loadClientConnectConfig } from "@temporalio/envconfig";
import {
  hasGrpcCode,
  NOT_FOUND,
  PERMISSION_DENIED,
  type ServerConnectionOptions,
  UNIMPLEMENTED,
  withConnection,
} from "./probe-server.ts";
import { ServerError, toErrorText } from "./server-error.ts";

export interface ConfiguredServer {
  connectionOptions: ServerConnectionOptions & { address: string };
  namespace: string;
}

/**
 * Read the usual Temporal configuration: the TEMPORAL_ variables and a profile of temporal.toml. Undefined if it names no server.
 *
 * @throws ServerError Server.Configuration if it can't be read, or if a profile asked for by name has no address.
 */
export function readConfiguredServer(
  environment: NodeJS.ProcessEnv,
  profile: string | undefined,
): ConfiguredServer | undefined {
  const asked = profile ?? environment.TEMPORAL_PROFILE;
  const { connectionOptions, namespace = "default" } = loadConfiguration(environment, asked);
  const { address } = connectionOptions;
  if (address !== undefined && address !== "") {
    return { connectionOptions: { ...connectionOptions, address }, namespace };
  }
  // Credentials or a profile without an address are meant for some server, and surely not for one that is started here.
  if (!asked && connectionOptions.apiKey === undefined && !connectionOptions.tls) return undefined;
  const source = asked ? `the profile ${asked}` : "the Temporal configuration, which has credentials,";
  throw new ServerError(
    "Server.Configuration",
    `${source} has no address: set TEMPORAL_ADDRESS, or \`address\` in the configuration file`,
  );
}

function loadConfiguration(environment: NodeJS.ProcessEnv, profile: string | undefined) {
  const overrideEnvVars: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value !== "") overrideEnvVars[name] = value;
  }
  try {
    return loadClientConnectConfig({ ...(profile ? { profile } : {}), overrideEnvVars });
  } catch (error) {
    throw new ServerError(
      "Server.Configuration",
      `the Temporal configuration (TEMPORAL_ variables and temporal.toml) can't be used: ${toErrorText(error)}`,
      error,
    );
  }
}

/** Say what is wrong with a namespace's name that no server can be asked for: gRPC carries it in a header. */
export function findNamespaceProblem(namespace: string): string | undefined {
  if (/^[ -~]+$/.test(namespace)) return undefined;
  return `the name of the namespace ${JSON.stringify(namespace)} can't be sent to a server: only letters without accents, digits and common signs can`;
}

/** @throws ServerError Server.Configuration that names the fault and where names come from. */
export function checkNamespaceName(namespace: string): void {
  const problem = findNamespaceProblem(namespace);
  if (problem !== undefined) {
    throw new ServerError(
      "Server.Configuration",
      `${problem}; see --namespace, TEMPORAL_NAMESPACE and the Temporal configuration`,
    );
  }
}

/**
 * See that a configured server answers and has the namespace.
 *
 * @throws ServerError Server.Configuration; nothing is started in its place.
 */
export async function checkConfiguredServer(server: ConfiguredServer): Promise<void> {
  const { connectionOptions, namespace } = server;
  checkNamespaceName(namespace);
  try {
    await withConnection(connectionOptions, async (connection) => {
      try {
        await connection.workflowService.describeNamespace({ namespace });
      } catch (error) {
        // A server may refuse the question and yet allow all else.
        if (!hasGrpcCode(error, PERMISSION_DENIED) && !hasGrpcCode(error, UNIMPLEMENTED)) throw error;
      }
    });
  } catch (error) {
    const problem = hasGrpcCode(error, NOT_FOUND)
      ? `has no namespace ${namespace}: create it or set TEMPORAL_NAMESPACE`
      : `can't be reached (${toErrorText(error)}): check TEMPORAL_ADDRESS and its credentials, or unset it to use a dev server`;
    throw new ServerError(
      "Server.Configuration",
      `the Temporal server at ${connectionOptions.address} ${problem}`,
      error,
    );
  }
}
