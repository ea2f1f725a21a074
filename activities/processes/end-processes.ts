import { setTimeout as delay } from "node:timers/promises";
import { findPipeWriters } from "./pipe-holders.ts";
import { type CommandSession, toFamily } from "./process-family.ts";
import type { ProcessMarks } from "./process-marks.ts";
import { type MarkedProcess, readProcessEntry, readProcessTable } from "./process-table.ts";

/** What became of the processes that were to be ended. */
export interface EndedProcesses {
  ended: number;
  /** Still there when time was up: stuck in the kernel, or another user's. */
  left: number;
}

export interface EndingSteps {
  /** Time to go by themselves, before any signal. */
  patienceMs: number;
  /** Time between SIGTERM and SIGKILL; 0 kills at once. */
  graceMs: number;
}

/** What can't be ended within this time is reported as left. */
const KILL_DEADLINE_MS = 2_000;
const POLL_MS = 10;

/** Find living processes by their marks, together with all that belongs to them. */
export async function findProcesses(isWanted: (marks: ProcessMarks) => boolean): Promise<MarkedProcess[]> {
  return toFamily(await readProcessTable(), (entry) => isWanted(entry.marks));
}

/**
 * Kill every process of a run, and repeat until none is left.
 *
 * Usable from any thread, also after the thread that started the processes was terminated. Never ends this process or one
 * that it descends from.
 */
export function killRun(marker: string): Promise<EndedProcesses> {
  return endProcesses(() => findProcesses((marks) => marks.run === marker), { patienceMs: 0, graceMs: 0 });
}

/** Kill what runs that are over have left behind. `isOver` is asked once for each marker found, and again if new ones appear. */
export async function killOrphans(
  isOver: (marker: string) => boolean | Promise<boolean>,
): Promise<EndedProcesses> {
  const verdicts = new Map<string, boolean>();
  const find = async () => {
    const table = await readProcessTable();
    for (const { marks } of table) {
      if (marks.run !== undefined && !verdicts.has(marks.run)) {
        verdicts.set(marks.run, await isOver(marks.run));
      }
    }
    return toFamily(table, ({ marks }) => marks.run !== undefined && verdicts.get(marks.run) === true);
  };
  return endProcesses(find, { patienceMs: 0, graceMs: 0 });
}

/** End what is left of one command: by its mark, and by the session that its shell led. */
export function endCommand(
  commandMark: string,
  session: CommandSession,
  steps: EndingSteps,
): Promise<EndedProcesses> {
  const find = async () =>
    toFamily(await readProcessTable(), ({ marks }) => marks.command === commandMark, session);
  return endProcesses(find, steps);
}

/** Kill what still holds the output of a command that is over, and all that belongs to it. */
export function endPipeWriters(name: string): Promise<EndedProcesses> {
  const find = async () => {
    const writers = await findPipeWriters(name);
    if (writers.size === 0) return [];
    return toFamily(await readProcessTable(), ({ pid }) => writers.has(pid));
  };
  return endProcesses(find, { patienceMs: 0, graceMs: 0 });
}

async function endProcesses(
  find: () => Promise<MarkedProcess[]>,
  { patienceMs, graceMs }: EndingSteps,
): Promise<EndedProcesses> {
  const signalled = new Set<string>();
  let found = await find();
  if (found.length > 0 && patienceMs > 0) {
    await untilGone(found, patienceMs);
    found = await find();
  }
  if (found.length > 0 && graceMs > 0) {
    signal(found, "SIGTERM", signalled);
    await untilGone(found, graceMs);
    found = await find();
  }
  const deadline = performance.now() + KILL_DEADLINE_MS;
  while (found.length > 0 && performance.now() < deadline) {
    signal(found, "SIGKILL", signalled);
    await untilGone(found, KILL_DEADLINE_MS / 4);
    // What was forked while the last look was taken is found by the next one.
    found = await find();
  }
  return {
    ended: signalled.size - found.filter((entry) => signalled.has(toKey(entry))).length,
    left: found.length,
  };
}

function signal(processes: readonly MarkedProcess[], name: NodeJS.Signals, signalled: Set<string>): void {
  for (const entry of processes) {
    // The number may belong to somebody else by now: look once more, right before the signal.
    if (!isStill(entry)) continue;
    signalled.add(toKey(entry));
    try {
      process.kill(entry.pid, name);
    } catch {
      // Gone in the same instant, or another user's: the next look tells which.
    }
  }
}

async function untilGone(processes: readonly MarkedProcess[], limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (processes.some(isStill) && performance.now() < deadline) await delay(POLL_MS);
}

function isStill(entry: MarkedProcess): boolean {
  const now = readProcessEntry(entry.pid);
  return now !== undefined && now.startTime === entry.startTime && !now.isZombie;
}

function toKey(entry: MarkedProcess): string {
  return `${entry.pid}/${entry.startTime}`;
}
