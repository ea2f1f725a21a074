import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { readProcessEntry } from "./process-table.ts";

/** Names one process for ever: a number that is used again, after a restart of the machine too, is not mistaken for it. */
export interface ProcessIdentity {
  pid: number;
  /** Opaque: compare, never read. */
  startTime: string;
  /** Only processes of the same host can be judged by {@link isProcessAlive}. */
  host: string;
}

/** Identify a living process; undefined if there is none, or only its zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startTime = readStartTime(pid);
  return startTime === undefined ? undefined : { pid, startTime, host: hostname() };
}

/** This process, whichever of its threads asks. */
export function ownProcessIdentity(): ProcessIdentity {
  const own = identifyProcess(process.pid);
  if (own === undefined) throw new Error(`the start time of process ${process.pid} can't be read`);
  return own;
}

/** Whether that very process still runs on this host. A zombie is dead. */
export function isProcessAlive({ pid, startTime }: Pick<ProcessIdentity, "pid" | "startTime">): boolean {
  return readStartTime(pid) === startTime;
}

function readStartTime(pid: number): string | undefined {
  // Anything but a plain number would ask for another path or a group.
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const entry = readProcessEntry(pid);
  if (entry === undefined || entry.isZombie) return undefined;
  return `${readBoot()}/${entry.startTime}`;
}

/** Start times count from the boot, so they repeat from one boot to the next. */
function readBoot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
}
