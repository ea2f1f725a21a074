import type { Connection } from "@temporalio/client";
import proto, { type temporal } from "@temporalio/proto";
import { toDelegateTaskQueue } from "../../core/messages.ts";
import { toMs } from "../../core/timestamp.ts";
import { toWorkerName } from "../worker-identity.ts";
import type { ServerQuestions } from "./check-server.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import { judgePollers, type Poller, RECENT_MS } from "./judge-pollers.ts";
import type { FoundServer } from "./look-for-server.ts";

const { TaskQueueType } = proto.temporal.api.enums.v1;
const MAX_SKEW_MS = 5_000;
const MAX_LISTED = 5;

/** See who works on a task queue: sessions and turns need one worker, delegates another, and one process is usually both. */
export async function checkWorkers(
  connection: Connection,
  server: FoundServer,
  { taskQueue, isWorkerExpected }: ServerQuestions,
): Promise<Finding[]> {
  const { namespace } = server;
  const delegateQueue = toDelegateTaskQueue(taskQueue);
  const [sessions, turns, delegates] = await Promise.all([
    listPollers(connection, namespace, taskQueue, TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW),
    listPollers(connection, namespace, taskQueue, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY),
    listPollers(connection, namespace, delegateQueue, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY),
  ]);
  const all = [...sessions, ...turns, ...delegates];
  const standing = judgePollers(all, Date.now());
  const serving = (pollers: Poller[]) =>
    toNames(pollers.filter(({ identity }) => !standing.has(identity ?? "")));
  const presence = {
    taskQueue,
    delegateQueue,
    isWorkerExpected,
    sessions: serving(sessions),
    turns: serving(turns),
    delegates: serving(delegates),
    gone: toNames(all.filter(({ identity }) => standing.get(identity ?? "") === "gone")),
  };
  const silent = toNames(all.filter(({ identity }) => standing.get(identity ?? "") === "silent"));
  return [
    toPresence(presence),
    ...toSilence(silent),
    ...toVersions(all.filter(({ identity }) => !standing.has(identity ?? ""))),
    toClock(server, all),
  ];
}

function toNames(pollers: readonly Poller[]): string[] {
  return [...new Set(pollers.map(({ identity }) => toWorkerName(identity ?? "")))];
}

async function listPollers(
  connection: Connection,
  namespace: string,
  name: string,
  taskQueueType: temporal.api.enums.v1.TaskQueueType,
): Promise<Poller[]> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType,
  });
  return pollers ?? [];
}

/** Who serves, by name. */
interface Presence {
  taskQueue: string;
  delegateQueue: string;
  isWorkerExpected: boolean;
  sessions: string[];
  turns: string[];
  delegates: string[];
  /** Whom the server still lists although their processes have ended. */
  gone: string[];
}

function toPresence(found: Presence): Finding {
  const { taskQueue, delegateQueue, isWorkerExpected, sessions, turns, delegates } = found;
  const advice = "start one";
  const command = ["worker", "--task-queue", taskQueue];
  const gone = toGoneText(found.gone);
  const isServed = sessions.length > 0 && turns.length > 0;
  if (isServed && delegates.length > 0) {
    const names = listNames([...sessions, ...delegates]);
    return ok("workers", `${taskQueue} and ${delegateQueue} are served by ${names}${gone}`);
  }
  if (sessions.length > 0 || turns.length > 0) {
    const lacking = isServed
      ? `nobody serves ${delegateQueue}: delegates stay queued`
      : `${taskQueue} is served in part`;
    const rest = listNames([...sessions, ...turns]);
    return problem("workers", `${lacking} (${rest} serves the rest)${gone}`, advice, command);
  }
  if (delegates.length > 0) {
    const rest = listNames(delegates);
    const text = `nobody serves ${taskQueue}: sessions stand still (${rest} serves delegates)${gone}`;
    return problem("workers", text, advice, command);
  }
  const text = `nobody serves ${taskQueue}${gone}`;
  return isWorkerExpected
    ? problem("workers", text, advice, command)
    : ok("workers", `${text}; \`run\` and \`send\` bring a worker of their own`);
}

function toGoneText(gone: readonly string[]): string {
  if (gone.length === 0) return "";
  return gone.length === 1
    ? `; ${gone[0]} is gone, the server still lists it`
    : `; ${listNames(gone)} are gone, the server still lists them`;
}

function toSilence(silent: readonly string[]): Finding[] {
  if (silent.length === 0) return [];
  const since = `asked for no work for ${RECENT_MS / 1000} s or more`;
  return [
    warning(
      "workers",
      `${listNames(silent)} ${since}: gone, or cut off, though the server still lists ${silent.length === 1 ? "it" : "them"}`,
      "nothing if it was ended; else see that it runs and reaches the server",
    ),
  ];
}

function listNames(all: readonly string[]): string {
  const names = [...new Set(all)];
  const more = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Workers of one queue with different code make the same session diverge from its own history. */
function toVersions(pollers: readonly Poller[]): Finding[] {
  const builds = [
    ...new Set(
      pollers.map(
        ({ workerVersionCapabilities, deploymentOptions }) =>
          deploymentOptions?.buildId || workerVersionCapabilities?.buildId,
      ),
    ),
  ].filter((build) => build?.includes("+"));
  if (builds.length < 2) return [];
  return [
    warning(
      "worker versions",
      `workers of this queue run different workflow code: ${builds.join(", ")}`,
      "fine during an upgrade; else bring them to one version",
    ),
  ];
}

/** When workers last asked is written down by the server's clock: it can't lie in the future. */
function toClock({ address }: FoundServer, pollers: readonly Poller[]): Finding {
  const aheadMs = Math.max(0, ...pollers.map(({ lastAccessTime }) => toMs(lastAccessTime) - Date.now()));
  if (aheadMs > MAX_SKEW_MS) {
    return warning(
      "clock",
      `the server's clock is at least ${Math.round(aheadMs / 1000)} s ahead of this host's`,
      "set both by a time server: times that are shown are wrong by as much",
    );
  }
  return /^(127\.|localhost|\[?::1)/.test(address)
    ? ok("clock", "the server is on this host")
    : ok("clock", "no difference to the server's is seen; a server tells no more than when workers asked");
}
