import { readFileSync, readlinkSync } from "node:fs";
import { isProcessAlive, ownProcessIdentity } from "../activities/index.ts";

/** How this worker process signs for tasks: the server keeps it with each, so that a later process can tell whether it still lives. */
export function toWorkerIdentity(): string {
  const { pid, startTime, host } = ownProcessIdentity();
  return `${pid}@${host} ${JSON.stringify([startTime, readProcessSpace()])}`;
}

/** The part of an identity that people read, `PID@HOST`; one that is not ours is shown as it is. */
export function toWorkerName(identity: string): string {
  return parse(identity)?.name ?? identity;
}

/** Whether an identity names a process of this very place that is no more. Anything that can't be read names none. */
export function isOfDeadProcess(identity: string): boolean {
  const own = ownProcessIdentity();
  const worker = parse(identity);
  if (worker?.host !== own.host || worker.space === "" || worker.space !== readProcessSpace()) return false;
  return !isProcessAlive(worker);
}

/** Names the boot and the space of process numbers that this process lives in; empty where there is no telling. */
export function readProcessSpace(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${boot}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

function parse(identity: string) {
  const [, pid, host, place = ""] = /^(\d+)@(\S+) (\[.*\])$/.exec(identity) ?? [];
  if (pid === undefined || host === undefined) return undefined;
  try {
    const [startTime, space] = JSON.parse(place) as unknown[];
    if (typeof startTime !== "string" || typeof space !== "string") return undefined;
    return { name: `${pid}@${host}`, pid: Number(pid), host, startTime, space };
  } catch {
    return undefined;
  }
}
