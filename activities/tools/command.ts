import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import {
  type EndedProcesses,
  type EndingSteps,
  endCommand,
  endPipeWriters,
} from "../processes/end-processes.ts";
import type { CommandSession } from "../processes/process-family.ts";
import { readProcessEntry } from "../processes/process-table.ts";
import { type KeptOutput, OutputKeeper } from "./command-output-file.ts";
import { type CommandPipe, openCommandPipe } from "./command-pipe.ts";
import { startTimer } from "./command-timeout.ts";

export interface CommandRequest {
  /** Path of bash. */
  bash: string;
  command: string;
  folder: string;
  environment: Record<string, string>;
  /** Value of SUBAGENTS_COMMAND in `environment`. */
  mark: string;
  timeoutMs: number;
  /** Folder for the pipe and the full output. */
  outputs: string;
  outputPath: string;
}

/** What ended a command; the first cause counts. */
export type CommandEnding =
  | { kind: "exited"; code: number }
  | { kind: "killed"; signal: NodeJS.Signals }
  | { kind: "timed-out" }
  | { kind: "stopped" };

export interface CommandOutcome {
  ending: CommandEnding;
  output: KeptOutput;
  /** Processes that were still running when the command had come to its ending, the shell included if it was one of them. */
  processes: EndedProcesses;
}

/** After the shell's own exit: time for its last writers to finish, then a short time to take leave. */
const afterExit: EndingSteps = { patienceMs: 200, graceMs: 250 };
const afterTimeout: EndingSteps = { patienceMs: 0, graceMs: 750 };
/** A stop must be done within a second. */
const afterStop: EndingSteps = { patienceMs: 0, graceMs: 200 };
/** With every writer dead the pipe ends at once, unless somebody holds it whom no mark and no session gave away. */
const LAST_READ_MS = 300;

/**
 * Run one command to its ending, and end every process that it started.
 *
 * Its ending is the shell's exit, the timeout or the stop, and never the end of its output: a background process that holds
 * the pipe can't hold the call.
 *
 * @throws Error if the command can't be started.
 */
export async function runCommand(request: CommandRequest, signal: AbortSignal): Promise<CommandOutcome> {
  const pipe = await openCommandPipe(request.outputs, toHelperEnvironment(request.environment));
  const { exit, session } = await start(request, pipe);
  const keeper = new OutputKeeper(request.outputPath);
  const reading = readAll(pipe.reader, keeper);
  const ending = await toFirstEnding(exit, request.timeoutMs, signal);
  const steps = toSteps(ending);
  if (ending.kind === "timed-out" || ending.kind === "stopped") askGroupToEnd(session);
  // The last of the output comes right after the exit; then whoever is still there has the rest of the patience.
  const patience = performance.now() + steps.patienceMs;
  if (steps.patienceMs > 0) await Promise.race([reading, delay(steps.patienceMs)]);
  const patienceMs = Math.max(0, patience - performance.now());
  const family = await endCommand(request.mark, session, { ...steps, patienceMs });
  const isRead = reading.then(() => true);
  const hasEnded = await Promise.race([isRead, delay(LAST_READ_MS, false)]);
  const holders = hasEnded ? { ended: 0, left: 0 } : await endPipeWriters(pipe.name);
  await Promise.race([reading, delay(LAST_READ_MS)]);
  pipe.closeReader();
  await reading;
  const processes = { ended: family.ended + holders.ended, left: family.left + holders.left };
  return { ending, output: await keeper.finish(), processes };
}

/** Helpers are the run's, not the command's: they outlive its processes by a moment, and are ended with the run. */
function toHelperEnvironment(environment: Record<string, string>): Record<string, string> {
  const names = ["PATH", "SUBAGENTS_RUN", "SUBAGENTS_CALL"];
  return Object.fromEntries(Object.entries(environment).filter(([name]) => names.includes(name)));
}

interface StartedCommand {
  exit: Promise<CommandEnding>;
  session: CommandSession;
}

async function start(request: CommandRequest, pipe: CommandPipe): Promise<StartedCommand> {
  try {
    const child = spawn(request.bash, ["-c", request.command], {
      cwd: request.folder,
      env: request.environment,
      // A session of its own: no terminal to wait at, and a group that can be told from the worker's.
      detached: true,
      stdio: ["ignore", pipe.writer, pipe.writer],
    });
    // Listened to, and looked at, before anything is awaited: a short command is over and its number free right after.
    const exit = toExit(child);
    const session = { id: child.pid ?? 0, startTime: readProcessEntry(child.pid ?? 0)?.startTime };
    await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
    return { exit, session };
  } catch (error) {
    pipe.closeReader();
    throw error;
  } finally {
    pipe.closeWriter();
  }
}

function toExit(child: ChildProcess): Promise<CommandEnding> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) =>
      resolve(signal === null ? { kind: "exited", code: code ?? 0 } : { kind: "killed", signal }),
    );
  });
}

/** Wait for the exit, the timeout or the stop, whichever comes first. */
function toFirstEnding(
  exit: Promise<CommandEnding>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CommandEnding> {
  return new Promise((resolve) => {
    const settle = (ending: CommandEnding) => {
      callOff();
      signal.removeEventListener("abort", stop);
      resolve(ending);
    };
    const stop = () => settle({ kind: "stopped" });
    const callOff = startTimer(timeoutMs, () => settle({ kind: "timed-out" }));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    void exit.then(settle);
  });
}

/** The shell's own group first: what eats up the processor must not slow down the hunt for what has left it. */
function askGroupToEnd({ id, startTime }: CommandSession): void {
  if (startTime === undefined || readProcessEntry(id)?.startTime !== startTime) return;
  try {
    process.kill(-id, "SIGTERM");
  } catch {
    // The group is gone already.
  }
}

function toSteps(ending: CommandEnding): EndingSteps {
  if (ending.kind === "stopped") return afterStop;
  return ending.kind === "timed-out" ? afterTimeout : afterExit;
}

/** Contract: never rejects; ends with the last writer, or when the reader is destroyed. */
async function readAll(reader: Readable, keeper: OutputKeeper): Promise<void> {
  try {
    for await (const chunk of reader) await keeper.add(chunk);
  } catch {
    // Destroyed while somebody still held the pipe: what was read until then is the output.
  }
}
