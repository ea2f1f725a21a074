import { closeSync, copyFileSync, fstatSync, openSync, readSync, statSync, truncateSync } from "node:fs";

const MAX_LOG_BYTES = 5 * 1024 * 1024;
const TAIL_BYTES = 4_096;
const TAIL_LINES = 12;

/** Size of a file, 0 if there is none. */
export function toFileSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Keep a log bounded while a process goes on appending to it: what there was moves to `<file>.1`. */
export function rotateLog(file: string): void {
  if (toFileSize(file) <= MAX_LOG_BYTES) return;
  try {
    copyFileSync(file, `${file}.1`);
  } finally {
    // With a full disk this is what helps.
    truncateSync(file);
  }
}

/** The last lines of a log, from byte `from` on. */
export function readLogTail(file: string, from = 0): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(descriptor);
    const start = Math.max(from, size - TAIL_BYTES, 0);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    const count = readSync(descriptor, buffer, 0, buffer.length, start);
    return buffer.toString("utf8", 0, count).trim().split("\n").slice(-TAIL_LINES).join("\n");
  } finally {
    closeSync(descriptor);
  }
}
