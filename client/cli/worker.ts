import { setTimeout as sleep } from "node:timers/promises";
import { toCountText } from "../../core/text.ts";
import { readTelemetry } from "../../worker/telemetry/settings.ts";
import { startWorkerTelemetry, type WorkerTelemetry } from "../../worker/telemetry/worker-telemetry.ts";
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
  telemetry: boolean;
}

const IDLE_LOOK_MS = 2000;

/** Run a worker until Ctrl-C or SIGTERM; its runs are handed back and go on elsewhere. */
export async function worker(flags: WorkerFlags, host: Host): Promise<ExitCode> {
  const read = readTelemetry(host.environment, flags.telemetry);
  // The command that owns this worker has the same environment, and has said it.
  const settings = flags.owned ? { ...read, warnings: [] } : read;
  const telemetry = await startWorkerTelemetry(settings, (line) => host.output.say(line));
  try {
    const connected = await host.interruption.orElse(connect(flags, host));
    // What the last runs tell is sent even where the worker fails.
    await serve(flags, connected, host, telemetry).finally(() => connected.release());
    return exitCodes.completed;
  } finally {
    await telemetry.end();
  }
}

async function serve(
  flags: WorkerFlags,
  connected: Connected,
  host: Host,
  telemetry: WorkerTelemetry,
): Promise<void> {
  const { lease, environment } = connected;
  const running = await startWorker({
    connectionOptions: lease.connectionOptions,
    namespace: lease.namespace,
    taskQueue: flags.taskQueue,
    stateFolder: host.stateFolder,
    environment,
    log: (line) => host.output.say(line),
    beforeClose: () => telemetry.pushLast(),
  });
  sayReady(flags, connected, host, telemetry);
  await Promise.race([running.finished, waitForReasonToEnd(flags, connected, host)]);
  if (host.interruption.signal.aborted) host.output.say(toEndingText(running.runs));
  await running.stop();
}

function sayReady(
  { taskQueue }: WorkerFlags,
  { lease: { namespace, address } }: Connected,
  { output }: Host,
  { places, warnings }: WorkerTelemetry,
): void {
  const { pid } = process;
  output.say(`worker ${pid} is ready: task queue ${taskQueue}, namespace ${namespace}, server ${address}`);
  if (places.metrics !== undefined) output.say(`metrics: ${places.metrics}`);
  if (places.traces !== undefined) output.say(`traces: ${places.traces}`);
  for (const warning of warnings) output.say(`warning: ${warning}`);
  output.event({ type: "ready", pid, taskQueue, namespace, address, ...places, warnings });
}

function toEndingText(runs: number): string {
  return runs === 0
    ? "ending: nothing is under way here"
    : `handing ${toCountText(runs, "run")} back: they go on with another worker; Ctrl-C once more ends at once`;
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
