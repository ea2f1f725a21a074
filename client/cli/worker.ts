import { setTimeout as sleep } from "node:timers/promises";
import { installWorkerRuntime } from "../../worker/runtime.ts";
import { startWorker } from "../../worker/worker.ts";
import type { SessionHandle } from "../session-handle.ts";
import { type Connected, connect, type ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";

export interface WorkerFlags extends ServerFlags {
  taskQueue: string;
  /** Ends with its standard input: whoever started it is gone then. */
  owned: boolean;
  /** Ends once this session has had a turn and nothing of it runs any more. */
  untilIdle?: string;
}

const IDLE_LOOK_MS = 2000;

/** Run a worker until Ctrl-C or SIGTERM; its runs are handed back and go on elsewhere. */
export async function worker(flags: WorkerFlags, host: Host): Promise<ExitCode> {
  const { output, interruption } = host;
  const connected = await interruption.orElse(connect(flags, host));
  const { lease, environment } = connected;
  installWorkerRuntime((line) => output.say(line));
  const running = await startWorker({
    connectionOptions: lease.connectionOptions,
    namespace: lease.namespace,
    taskQueue: flags.taskQueue,
    stateFolder: host.stateFolder,
    environment,
    log: (line) => output.say(line),
  });
  output.say(
    `worker ${process.pid} is ready: task queue ${flags.taskQueue}, namespace ${lease.namespace}, server ${lease.address}`,
  );
  output.event({
    type: "ready",
    pid: process.pid,
    taskQueue: flags.taskQueue,
    namespace: lease.namespace,
    address: lease.address,
  });
  try {
    await Promise.race([running.finished, waitForReasonToEnd(flags, connected, host)]);
    await running.stop();
    return exitCodes.completed;
  } finally {
    await connected.release();
  }
}

async function waitForReasonToEnd(flags: WorkerFlags, connected: Connected, host: Host): Promise<void> {
  const { signal } = host.interruption;
  const reasons = [host.interruption.orElse(new Promise<never>(() => undefined)).catch(() => undefined)];
  if (flags.owned) reasons.push(waitForEndOfInput());
  if (flags.untilIdle !== undefined) {
    reasons.push(waitForRest(connected.sessions.get(flags.untilIdle), signal).catch(() => undefined));
  }
  await Promise.race(reasons);
}

function waitForEndOfInput(): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  process.stdin.once("close", () => resolve(undefined));
  process.stdin.on("error", () => resolve(undefined));
  process.stdin.resume();
  return promise;
}

async function waitForRest(session: SessionHandle, signal: AbortSignal): Promise<undefined> {
  while (!signal.aborted) {
    const view = await session.view(signal).catch(() => undefined);
    const hasHadTurn = view?.turns.at(-1)?.status !== "running" && (view?.turns.length ?? 0) > 0;
    if (hasHadTurn && view?.delegations.every(({ status }) => status !== "running")) return undefined;
    await sleep(IDLE_LOOK_MS, undefined, { signal });
  }
  return undefined;
}
