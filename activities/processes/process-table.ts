import { close as closeCallback, open as openCallback, read as readCallback, readdir } from "node:fs";
import { promisify } from "node:util";
import { noMarks, type ProcessMarks, toMarks } from "./process-marks.ts";
import { readPsEntry, readPsTable } from "./process-ps.ts";
import { type ProcessEntry, readLinuxEntry } from "./process-stat.ts";

export interface MarkedProcess extends ProcessEntry {
  marks: ProcessMarks;
}

const open = promisify(openCallback);
const read = promisify(readCallback);
const close = promisify(closeCallback);
const PART_BYTES = 16 * 1024;

const hasProc = process.platform === "linux";
/** Entries that are read in one go, before other work of the thread gets its turn. */
const BATCH = 64;
/** Reading an environment waits for the process's memory lock, which a stuck process may hold for ever. */
const ENVIRONMENT_DEADLINE_MS = 1_000;

/** One process's entry now; undefined if there is no such process. */
export const readProcessEntry: (pid: number) => ProcessEntry | undefined = hasProc
  ? readLinuxEntry
  : readPsEntry;

/** Every living process of the machine with its marks; those of other users have none that can be read. */
export async function readProcessTable(): Promise<MarkedProcess[]> {
  const table = hasProc ? await readLinuxTable() : await readPsTable();
  return table.filter((entry) => !entry.isZombie && !entry.isKernelThread);
}

async function readLinuxTable(): Promise<MarkedProcess[]> {
  const table: MarkedProcess[] = [];
  const pids = await listPids();
  for (let start = 0; start < pids.length; start += BATCH) {
    const batch = pids.slice(start, start + BATCH).flatMap((pid) => readLinuxEntry(pid) ?? []);
    table.push(...(await Promise.all(batch.map(withMarks))));
  }
  return table;
}

async function withMarks(entry: ProcessEntry): Promise<MarkedProcess> {
  return { ...entry, marks: entry.isKernelThread || entry.isZombie ? noMarks : await readMarks(entry.pid) };
}

function readMarks(pid: number): Promise<ProcessMarks> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => resolve(noMarks), ENVIRONMENT_DEADLINE_MS);
    const settle = (environment: Buffer) => {
      clearTimeout(deadline);
      resolve(toMarks(environment));
    };
    readEnvironment(pid).then(settle, () => settle(Buffer.alloc(0)));
  });
}

/** Three calls for nearly every process; `readFile` would need five, and there are hundreds of processes. */
async function readEnvironment(pid: number): Promise<Buffer> {
  const file = await open(`/proc/${pid}/environ`, "r");
  try {
    const parts: Buffer[] = [];
    for (;;) {
      const part = Buffer.allocUnsafe(PART_BYTES);
      const { bytesRead } = await read(file, part, 0, PART_BYTES, null);
      parts.push(part.subarray(0, bytesRead));
      if (bytesRead < PART_BYTES) return Buffer.concat(parts);
    }
  } finally {
    await close(file);
  }
}

function listPids(): Promise<number[]> {
  return new Promise((resolve, reject) => {
    readdir("/proc", (error, names) =>
      error ? reject(error) : resolve(names.filter((name) => /^\d+$/.test(name)).map(Number)),
    );
  });
}
