import { hostname } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createActivities, createFileJournalStore } from "../activities/index.ts";
import { SessionClient } from "../client/session-client.ts";
import { MAX_HEARTBEAT_THROTTLE_MS } from "../core/limits.ts";
import { toDelegateTaskQueue } from "../core/messages.ts";
import type { StateFolder } from "../core/state-folder.ts";
import { askStanding } from "./attempt-standing.ts";
import { handBackLostTasks } from "./lost-tasks.ts";
import { reclaimRuns } from "./reclaim.ts";
import { registerWorker } from "./registry.ts";
import type { ServerLease } from "./server/ensure-server.ts";
import { beginAtZero } from "./telemetry/zero-counters.ts";
import { toWorkerIdentity } from "./worker-identity.ts";
import { bundleWorkflows } from "./workflow-bundle.ts";

export interface WorkerOptions {
  connectionOptions: ServerLease["connectionOptions"];
  namespace: string;
  /** Sessions and turns; delegates run on a queue of their own beside it. */
  taskQueue: string;
  stateFolder: StateFolder;
  environment: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** Called once all runs have ended or were handed back, before the connection closes. */
  beforeClose?: () => Promise<void>;
}

export interface RunningWorker {
  /** Turns and delegates under way. */
  readonly runs: number;
  /** Hand all runs back and end. Resolves once nothing is left; a no-op the second time. */
  stop(): Promise<void>;
  /** Resolves when the worker has ended, rejects if it failed. */
  finished: Promise<void>;
}

/** Turns and delegates that one process carries at once, each in slots of its own. */
const SLOTS = 100;

/**
 * Start a worker process's two workers, one for sessions and turns, one for delegates: turns that wait for their delegates never hold the
 * slots that those need. Runs that a killed process has left behind are handed back first.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const connection = await NativeConnection.connect(options.connectionOptions);
  // Our own calls decide about repetition: the SDK's retries would outlive a connection that is closed.
  const clientConnection = await Connection.connect({ ...options.connectionOptions, interceptors: [] });
  const client = new Client({ connection: clientConnection, namespace: options.namespace });
  const reclaimed = await reclaimRuns(
    options.stateFolder,
    client,
    options.connectionOptions.address ?? "",
    options.log,
  );
  if (reclaimed > 0) options.log(`handed back what a worker that was killed had under way: ${reclaimed}`);

  // After the handing back: bundling holds the thread for seconds, in which the server's pause before the next attempts passes.
  const [bundle, found] = await Promise.all([
    bundleWorkflows(),
    handBackLostTasks(client, options.taskQueue, options.log),
  ]);
  if (found > 0) options.log(`handed back what a worker was given as it was killed: ${found}`);
  const activities = createActivities(toHost(options, client));
  const shared = {
    connection,
    namespace: options.namespace,
    identity: toWorkerIdentity(),
    activities,
    maxConcurrentActivityTaskExecutions: SLOTS,
    maxHeartbeatThrottleInterval: MAX_HEARTBEAT_THROTTLE_MS,
    // A run that does not end in order must not keep the process: its next attempt goes on elsewhere.
    shutdownForceTime: "15s",
  };
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      taskQueue: options.taskQueue,
      workflowBundle: bundle,
      // What the server keeps for a worker that was killed goes to the next one after this time.
      stickyQueueScheduleToStartTimeout: "2s",
    }),
    Worker.create({ ...shared, taskQueue: toDelegateTaskQueue(options.taskQueue) }),
  ]);
  beginAtZero(Runtime.instance().metricMeter, options);
  const unregister = await registerWorker(options.stateFolder, {
    address: options.connectionOptions.address ?? "",
    namespace: options.namespace,
    taskQueue: options.taskQueue,
  });
  const finished = run(workers, async () => {
    try {
      await unregister();
      await options.beforeClose?.();
    } finally {
      await clientConnection.close();
      await connection.close();
    }
  });
  return {
    finished,
    get runs() {
      return workers.reduce((sum, worker) => sum + worker.getStatus().numInFlightActivities, 0);
    },
    async stop() {
      for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
      await finished;
    },
  };
}

/** Run both workers to their end; if one fails, the other is shut down. */
async function run(workers: Worker[], cleanUp: () => Promise<void>): Promise<void> {
  const shutDownOthers = () => {
    for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  };
  const runs = workers.map((worker) => worker.run().finally(shutDownOthers));
  const results = await Promise.allSettled(runs);
  await cleanUp();
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

function toHost(options: WorkerOptions, client: Client) {
  const sessions = new SessionClient(client);
  const root = new URL(import.meta.url.endsWith(".ts") ? "../agents" : "../../agents", import.meta.url);
  return {
    stateFolder: options.stateFolder,
    journals: createFileJournalStore(options.stateFolder),
    builtinDirectory: fileURLToPath(root),
    userDirectory: options.environment.HOME
      ? path.join(options.environment.HOME, ".agents", "subagents")
      : undefined,
    address: options.connectionOptions.address ?? "",
    worker: `${process.pid}@${hostname()}`,
    sessionFor: (sessionId: string) => sessions.get(sessionId),
    askStanding: (ref: Parameters<typeof askStanding>[1]) => askStanding(client, ref),
  };
}
