import type { temporal } from "@temporalio/proto";
import { type Finding, ok, warning } from "./finding.ts";
import { type FoundServer, readCommandLine } from "./look-for-server.ts";

const CHECK = "push flags";
const FRONTEND_FLAG = "frontend.WorkerCommandsEnabled";
const SYSTEM_FLAG = "system.enableCancelActivityWorkerCommand";
const ADVICE = `set ${FRONTEND_FLAG} and ${SYSTEM_FLAG} to true in the server's dynamic configuration (start-dev: --dynamic-config-value NAME=true); on Temporal Cloud they can't be set, and stops take some seconds`;

/**
 * See whether a stop reaches a worker at once. A server tells of one of the two flags that this takes, as a capability of the namespace; the other can be
 * seen of our own dev server alone, by how it was started.
 */
export function checkPush(
  server: FoundServer,
  answer: temporal.api.workflowservice.v1.IDescribeNamespaceResponse | undefined,
): Finding {
  const words = server.pid === undefined ? undefined : readCommandLine(server.pid);
  const isSet = (flag: string) => words?.includes(`${flag}=true`) === true;
  const capabilities = answer?.namespaceInfo?.capabilities;
  if (!capabilities) return warning(CHECK, "the server does not tell whether they are set", ADVICE);
  if (!capabilities.workerCommands) {
    const text = `${FRONTEND_FLAG} is not set: a stop reaches a worker with its next heartbeat, within some seconds`;
    return warning(CHECK, text, ADVICE);
  }
  if (isSet(SYSTEM_FLAG)) return ok(CHECK, "both are set: a stop reaches a worker at once");
  if (words !== undefined) {
    return warning(
      CHECK,
      `${SYSTEM_FLAG} is not set: a stop takes some seconds`,
      "end all commands, so that the dev server starts anew",
    );
  }
  return ok(
    CHECK,
    `${FRONTEND_FLAG} is set; whether ${SYSTEM_FLAG} is too can't be seen from outside: set both`,
  );
}
