import { Connection } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { findNamespaceProblem } from "../server/configured-server.ts";
import { hasGrpcCode, NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED } from "../server/probe-server.ts";
import { toErrorText } from "../server/server-error.ts";
import { checkPush } from "./check-push.ts";
import { checkSearchAttributes } from "./check-search-attributes.ts";
import { checkWorkers } from "./check-workers.ts";
import { explainSilence } from "./explain-silence.ts";
import { carryOut, type Finding, ok, problem, warning } from "./finding.ts";
import type { FoundServer } from "./look-for-server.ts";
import { toTemporalCommand } from "./temporal-command.ts";

type NamespaceAnswer = temporal.api.workflowservice.v1.IDescribeNamespaceResponse;

/** A connection and each question have so long. */
const ANSWER_MS = 3_000;
/** What this was tested with. */
const TESTED = [1, 32] as const;
const DAY_SECONDS = 86_400;

/** What is asked of a server, besides whether it is there. */
export interface ServerQuestions {
  taskQueue: string;
  /** How Temporal's own program is called on this host. */
  temporal: string;
  /** Whether a worker is expected there: somebody named the queue. */
  isWorkerExpected: boolean;
}

/** Ask a server all that a session needs of it. Changes nothing. */
export async function checkServer(server: FoundServer, questions: ServerQuestions): Promise<Finding[]> {
  const { address, why } = server;
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...server.connectionOptions, connectTimeout: ANSWER_MS });
  } catch (error) {
    return [await toUnreachable(server, error)];
  }
  const deadline = Date.now() + ANSWER_MS;
  try {
    return await connection.withDeadline(deadline, async () => {
      const startedAt = performance.now();
      const { serverVersion } = await connection.workflowService.getSystemInfo({});
      const latencyMs = Math.max(1, Math.round(performance.now() - startedAt));
      const reached = `${address} (${why}) answers within ${latencyMs} ms`;
      return [
        ok("server", reached),
        checkVersion(serverVersion ?? ""),
        ...(await checkInside(connection, server, questions)),
      ];
    });
  } catch (error) {
    return [await toUnreachable(server, error)];
  } finally {
    await connection.close();
  }
}

async function toUnreachable({ address, why, kind }: FoundServer, error: unknown): Promise<Finding> {
  const reason = await explainSilence(address);
  const text = `${address} (${why}) can't be reached: ${toErrorText(error)}; ${reason}`;
  if (kind === "usual-port") {
    return warning(
      "server",
      text,
      "something else listens there: the dev server will take another port. If it should be Temporal, look at it",
    );
  }
  return problem(
    "server",
    text,
    kind === "ours"
      ? "look at server.log in the state folder's dev-server; ending all commands ends the server, and the next one starts it anew"
      : "check the address and its credentials (TLS, API key), or take the setting away to use a dev server",
  );
}

function checkVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < TESTED[0] || (major === TESTED[0] && minor < TESTED[1]);
  const text = `Temporal Server ${version || "of unknown version"}`;
  if (!isOld) return ok("server version", text);
  return warning(
    "server version",
    `${text}: older than ${TESTED.join(".")}, which this is tested with`,
    "upgrade the server; before 1.32 a stop takes until the next heartbeat",
  );
}

async function checkInside(
  connection: Connection,
  server: FoundServer,
  questions: ServerQuestions,
): Promise<Finding[]> {
  const { namespace } = server;
  const misnamed = findNamespaceProblem(namespace);
  if (misnamed !== undefined) {
    return [problem("namespace", misnamed, "name another by --namespace, TEMPORAL_NAMESPACE or the profile")];
  }
  let answer: NamespaceAnswer | undefined;
  try {
    answer = await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (hasGrpcCode(error, NOT_FOUND)) return [toMissingNamespace(server, questions)];
    if (!hasGrpcCode(error, PERMISSION_DENIED) && !hasGrpcCode(error, UNIMPLEMENTED)) throw error;
  }
  const found = await Promise.all([
    carryOut("namespace", async () => [checkNamespace(namespace, answer)]),
    carryOut("updates", async () => checkUpdates(answer)),
    carryOut("search attributes", () => checkSearchAttributes(connection, server, questions)),
    carryOut("push flags", async () => [checkPush(server, answer)]),
    carryOut("workers", () => checkWorkers(connection, server, questions)),
  ]);
  return found.flat();
}

function toMissingNamespace(server: FoundServer, { temporal }: ServerQuestions): Finding {
  const { address, namespace, kind } = server;
  if (kind === "ours") return ok("namespace", `${namespace}: not there yet; the next command makes it`);
  const text = `there is no namespace ${namespace} at ${address}`;
  if (kind === "usual-port") {
    return warning(
      "namespace",
      text,
      "a dev server will be started beside it; to use this one, create it there",
    );
  }
  return problem(
    "namespace",
    text,
    `create it (${toTemporalCommand(temporal, ["operator", "namespace", "create"], server)}), or set TEMPORAL_NAMESPACE to one that exists`,
  );
}

function checkNamespace(namespace: string, answer: NamespaceAnswer | undefined): Finding {
  if (answer === undefined) {
    return warning(
      "namespace",
      `${namespace}: the server does not let these credentials look at it`,
      "nothing, if sessions work; else ask for the right to use it",
    );
  }
  const seconds = Number(answer.config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  const isRegistered = (answer.namespaceInfo?.state ?? 0) <= 1;
  const kept = `what has ended is kept for ${Math.round((seconds / DAY_SECONDS) * 10) / 10} days`;
  if (isRegistered) return ok("namespace", `${namespace}: ${kept}`);
  return problem(
    "namespace",
    `${namespace} is being deleted or out of use`,
    "set TEMPORAL_NAMESPACE to another",
  );
}

/** Every call of a session is an update. */
function checkUpdates(answer: NamespaceAnswer | undefined): Finding[] {
  const capabilities = answer?.namespaceInfo?.capabilities;
  if (!capabilities || (capabilities.syncUpdate && capabilities.asyncUpdate)) return [];
  return [
    problem(
      "updates",
      "the server does not take workflow updates, which sessions are built on",
      "set frontend.enableUpdateWorkflowExecution and frontend.enableUpdateWorkflowExecutionAsyncAccepted to true, or upgrade the server",
    ),
  ];
}
