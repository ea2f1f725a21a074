import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { escapeControls } from "../../core/text.ts";
import { isSpanLine } from "../../worker/telemetry/span-line.ts";
import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";

export interface WorkerSettings {
  taskQueue: string;
  environment: NodeJS.ProcessEnv;
  profile?: string | undefined;
  /** Whether its work is traced and measured, whatever the environment says. */
  telemetry?: boolean | undefined;
}

/** A worker of our own, kept alive until it is stopped. */
export interface WorkerProcess {
  /** Rejects once the worker could not be kept alive. */
  failed: Promise<never>;
  /** Let it hand its runs back and end; killed if it takes too long. */
  stop(): Promise<void>;
}

/** A worker gives its own runs 15 s to end in order. */
const STOP_PATIENCE_MS = 25_000;
/** Deaths in a row, none of them after a minute of work, at which restarting is given up. */
const MAX_DEATHS = 5;
const HEALTHY_AFTER_MS = 60_000;
const FIRST_RESTART_MS = 500;
const LAST_RESTART_MS = 10_000;
const KEPT_ERROR_CHARACTERS = 2000;

/**
 * Start a worker in a process of its own, wait until it is ready, and start it again if it dies.
 *
 * It ends with this process in whatever way that ends: its standard input is a pipe from here. Ctrl-C in the terminal does not reach it, so
 * that a turn can still be aborted in order.
 *
 * @throws CliError Worker.NotStarted with the worker's own words.
 */
export async function startWorkerProcess(
  settings: WorkerSettings,
  note: (text: string) => void,
): Promise<WorkerProcess> {
  let current = launch(settings, note);
  let isStopping = false;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  await current.ready;

  async function keepAlive(): Promise<void> {
    let deaths = 0;
    for (;;) {
      const startedAtMs = Date.now();
      const ending = await current.ended;
      if (isStopping) return;
      deaths = Date.now() - startedAtMs > HEALTHY_AFTER_MS ? 1 : deaths + 1;
      if (deaths >= MAX_DEATHS) throw toStartError(`it died ${deaths} times in a row, last with ${ending}`);
      note(`the worker has died (${ending}): starting it again`);
      await sleep(Math.min(LAST_RESTART_MS, FIRST_RESTART_MS * 2 ** (deaths - 1)));
      if (isStopping) return;
      current = launch(settings, note);
      await current.ready.then(
        () => note("the worker is back"),
        // Its end, which follows, is what is acted on.
        () => undefined,
      );
    }
  }

  const keeping = keepAlive().catch(reject);
  return {
    failed,
    async stop() {
      isStopping = true;
      await endProcess(current);
      await keeping;
    },
  };
}

/** A worker that outlives this process and the terminal, and ends by itself once its session is at rest. */
export interface DetachedWorker {
  pid: number | undefined;
  /** Rejects if it ends although it was not yet let go. */
  failed: Promise<never>;
  letGo(): void;
}

export function startDetachedWorker(
  settings: WorkerSettings,
  sessionId: string,
  logFile: string,
): DetachedWorker {
  mkdirSync(path.dirname(logFile), { recursive: true, mode: 0o700 });
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(process.execPath, [...toArguments(settings), "--until-idle", sessionId], {
    env: toWorkerEnvironment(settings.environment),
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  const onEnd = () => reject(toStartError(`see ${logFile}`));
  child.once("error", onEnd);
  child.once("exit", onEnd);
  return {
    pid: child.pid,
    failed,
    letGo() {
      child.off("exit", onEnd);
      child.unref();
    },
  };
}

interface Launched {
  child: ChildProcess;
  ready: Promise<void>;
  /** How it ended, in a few words. */
  ended: Promise<string>;
}

function launch(settings: WorkerSettings, note: (text: string) => void): Launched {
  const child = spawn(process.execPath, [...toArguments(settings), "--owned"], {
    env: toWorkerEnvironment(settings.environment),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let errors = "";
  createInterface({ input: child.stderr }).on("line", (line) => {
    // Its spans belong on our own standard error, and would push the words out that say why it failed.
    if (isSpanLine(line)) process.stderr.write(`${escapeControls(line)}\n`);
    else errors = `${errors}${line}\n`.slice(-KEPT_ERROR_CHARACTERS);
  });
  child.stdin.on("error", () => undefined);
  const { promise: ready, resolve: resolveReady, reject: rejectReady } = Promise.withResolvers<void>();
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<string>();
  ready.catch(() => undefined);
  let problem: { code: string; message: string } | undefined;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = parseEvent(line);
    if (event?.type === "ready") {
      for (const warning of toTexts(event.warnings)) note(`warning: ${warning}`);
      resolveReady();
    }
    if (event?.type === "error") problem = { code: String(event.code), message: String(event.message) };
  });
  child.once("error", (error) => {
    rejectReady(toStartError(error.message));
    resolveEnded(error.message);
  });
  child.once("close", (code, signal) => {
    const ending = signal ?? `exit code ${code}`;
    const isUsage = code === exitCodes.usage;
    rejectReady(
      problem === undefined
        ? toStartError(`${ending}: ${errors.trim().split("\n").slice(-3).join(" ")}`)
        : new CliError(problem.code, problem.message, isUsage ? exitCodes.usage : exitCodes.failed),
    );
    resolveEnded(problem === undefined ? ending : `${ending}: ${problem.message}`);
  });
  return { child, ready, ended };
}

async function endProcess({ child, ended }: Launched): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE_MS);
  await ended;
  clearTimeout(timer);
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function toArguments({ taskQueue, profile, telemetry }: WorkerSettings): string[] {
  const here = fileURLToPath(import.meta.url);
  const main = path.join(path.dirname(here), `main${path.extname(here)}`);
  const flags = profile === undefined ? [] : ["--profile", profile];
  if (telemetry) flags.push("--telemetry");
  return [main, "worker", "--json", "--task-queue", taskQueue, ...flags];
}

/** Options for this process, such as a debugger's port, are not meant for another. */
function toWorkerEnvironment({ NODE_OPTIONS: _, ...environment }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return environment;
}

function parseEvent(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function toStartError(why: string): CliError {
  return new CliError("Worker.NotStarted", `the worker could not be started: ${why}`, exitCodes.failed);
}
