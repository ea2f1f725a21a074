import type { Connection } from "@temporalio/client";
import proto, { type temporal } from "@temporalio/proto";
import { toDelegateTaskQueue } from "../../core/messages.ts";
import type { ServerQuestions } from "./check-server.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import type { FoundServer } from "./look-for-server.ts";

type Poller = temporal.api.taskqueue.v1.IPollerInfo;

const { TaskQueueType } = proto.temporal.api.enums.v1;
/** A worker asks again at least once a minute; the server remembers it for some minutes after it has gone. */
const RECENT_MS = 90_000;
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
  return [
    toPresence({ taskQueue, delegateQueue, isWorkerExpected, sessions, turns, delegates }),
    ...toVersions(all),
    toClock(server, all),
  ];
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
  return (pollers ?? []).filter(({ lastAccessTime }) => Date.now() - toMs(lastAccessTime) < RECENT_MS);
}

interface Presence {
  taskQueue: string;
  delegateQueue: string;
  isWorkerExpected: boolean;
  sessions: Poller[];
  turns: Poller[];
  delegates: Poller[];
}

function toPresence(found: Presence): Finding {
  const { taskQueue, delegateQueue, isWorkerExpected, sessions, turns, delegates } = found;
  const advice = "start one";
  const command = ["worker", "--task-queue", taskQueue];
  const isServed = sessions.length > 0 && turns.length > 0;
  if (isServed && delegates.length > 0) {
    return ok(
      "workers",
      `${taskQueue} and ${delegateQueue} are served by ${listIdentities([...sessions, ...delegates])}`,
    );
  }
  if (sessions.length > 0 || turns.length > 0) {
    const lacking = isServed
      ? `nobody serves ${delegateQueue}: delegates stay queued`
      : `${taskQueue} is served in part`;
    return problem(
      "workers",
      `${lacking} (${listIdentities([...sessions, ...turns])} serves the rest)`,
      advice,
      command,
    );
  }
  if (delegates.length > 0) {
    return problem(
      "workers",
      `nobody serves ${taskQueue}: sessions stand still (${listIdentities(delegates)} serves delegates)`,
      advice,
      command,
    );
  }
  const text = `nobody serves ${taskQueue}`;
  return isWorkerExpected
    ? problem("workers", text, advice, command)
    : ok("workers", `${text}; \`run\` and \`send\` bring a worker of their own`);
}

function listIdentities(pollers: readonly Poller[]): string {
  const names = [...new Set(pollers.map(({ identity }) => identity ?? ""))];
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

function toMs(time: Poller["lastAccessTime"]): number {
  return Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
}
