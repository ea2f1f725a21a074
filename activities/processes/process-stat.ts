import { readFileSync } from "node:fs";

/** What the kernel says of one process. `startTime` is opaque: two processes of one boot that share a pid differ in it. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  startTime: string;
  /** Ended, and only waiting for its parent to take note. */
  isZombie: boolean;
  isKernelThread: boolean;
}

const KERNEL_THREAD_FLAG = 0x0020_0000;

/** Read one line of Linux's `/proc/<pid>/stat`; undefined if it is not one. */
export function toProcessEntry(stat: string): ProcessEntry | undefined {
  // The name stands in parentheses and may itself hold blanks and parentheses, so the fields are counted from its end.
  const nameEnd = stat.lastIndexOf(")");
  const pid = Number.parseInt(stat, 10);
  const fields = stat.slice(nameEnd + 2).split(" ");
  const startTime = fields[19];
  if (nameEnd < 0 || !Number.isInteger(pid) || startTime === undefined) return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTime,
    isZombie: fields[0] === "Z" || fields[0] === "X",
    isKernelThread: (Number(fields[6]) & KERNEL_THREAD_FLAG) !== 0,
  };
}

/**
 * Read one process's entry now; undefined if there is no such process.
 *
 * Synchronous on purpose: it is used in the same breath as a kill. The kernel answers from memory, in microseconds.
 */
export function readLinuxEntry(pid: number): ProcessEntry | undefined {
  try {
    return toProcessEntry(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return undefined;
  }
}
