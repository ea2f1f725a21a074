import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionSummary } from "../session-client.ts";
import { SessionError, sessionErrorCodes } from "../session-error.ts";
import type { SessionHandle } from "../session-handle.ts";
import { CliError } from "./cli-error.ts";
import type { Connected } from "./connect.ts";
import { hasLivingWorker } from "./ensure-worker.ts";
import type { Host } from "./host.ts";
import { startWorkerProcess, type WorkerProcess, type WorkerSettings } from "./worker-process.ts";

/** Time in which a worker that is there has answered. */
const PROBE_MS = 4000;
const WATCH_EVERY_MS = 5000;

/** The worker that a command lends to a session for as long as it needs one. */
export interface SessionWorker {
  /** Start it unless it runs already. */
  start(): Promise<void>;
  /** Rejects once it was started and could not be kept alive. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

export function createSessionWorker(settings: WorkerSettings, note: (text: string) => void): SessionWorker {
  let worker: Promise<WorkerProcess> | undefined;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  return {
    failed,
    async start() {
      worker ??= startWorkerProcess(settings, note);
      const { failed: hasFailed } = await worker;
      hasFailed.catch(reject);
    },
    async stop() {
      const started = await worker?.catch(() => undefined);
      await started?.stop();
    },
  };
}

export interface Serving {
  session: SessionHandle;
  summary: SessionSummary;
  worker: SessionWorker;
  connected: Connected;
  host: Host;
}

/**
 * See that a turn of a session can be carried out: by a worker of this host, else by one of our own, else by whoever answers.
 *
 * @throws SessionError Session.Closed before anything is started for it.
 */
export async function serveSession(serving: Serving): Promise<void> {
  const { summary, worker, connected, host } = serving;
  if (summary.status !== "open") {
    throw new SessionError(
      sessionErrorCodes.closed,
      `${summary.sessionId} is closed (${summary.status}): it takes no further message`,
    );
  }
  if (await hasLivingWorker(summary.taskQueue, connected, host)) return;
  if (isWorkspaceHere(summary)) return await worker.start();
  if (!(await doesAnswer(serving.session))) throw toOtherHost(summary, host);
}

/** See that a session can be looked at: by whoever answers, else by a worker of our own. */
export async function serveLook(serving: Serving): Promise<void> {
  const { session, summary, worker, connected, host } = serving;
  // The server's own records tell all of a session that has ended.
  if (summary.status !== "open") return;
  // All workers of our own dev server live on this host, so none needs to be asked for where none is registered.
  const mayAnswer = !connected.lease.isOurs || (await hasLivingWorker(summary.taskQueue, connected, host));
  if (mayAnswer && (await doesAnswer(session))) return;
  if (!isWorkspaceHere(summary)) throw toOtherHost(summary, host);
  await worker.start();
}

async function doesAnswer(session: SessionHandle): Promise<boolean> {
  return await session.view(AbortSignal.timeout(PROBE_MS)).then(
    () => true,
    () => false,
  );
}

function isWorkspaceHere({ workspace }: SessionSummary): boolean {
  return workspace === "" || existsSync(workspace);
}

function toOtherHost({ sessionId, workspace, taskQueue }: SessionSummary, { output }: Host): CliError {
  return new CliError(
    "Session.OtherHost",
    `no worker answers for ${sessionId}, and its workspace ${workspace} is not on this host: run \`${output.toCommand(["worker", "--task-queue", taskQueue])}\` where it is`,
  );
}

/** While something of a session is waited for, lend it a worker as soon as nobody answers any more. Never rejects. */
export async function keepAnswering(
  session: SessionHandle,
  start: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(WATCH_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted || (await doesAnswer(session))) continue;
    await start().catch(() => undefined);
  }
}
