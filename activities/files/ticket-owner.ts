import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { toErrorCode } from "../paths/refusal.ts";

/** A ticket of a process that can't be looked at (another container, before a reboot) is believed for this long. */
const FOREIGN_TICKET_MS = 60_000;
/** A file has its name a moment before its handle can be seen, so the handle is missed only after this time. */
const FRESH_TICKET_MS = 2_000;

/** Who holds a ticket: encoded into its file name, so that it is there as soon as the file is. */
export interface TicketOwner {
  pid: number;
  /** Start time of the process: a number that was given to another process since does not keep a ticket alive. */
  started: string;
  /** Boot and process namespace within which `pid` means something. */
  place: string;
  nonce: string;
}

export async function toOwnTicket(): Promise<TicketOwner> {
  const found = await readProcess(process.pid);
  return {
    pid: process.pid,
    started: found?.started ?? "0",
    place: await toPlace(),
    nonce: randomUUID().slice(0, 13),
  };
}

export function toOwnerName({ pid, started, place, nonce }: TicketOwner): string {
  return `${pid}_${started}_${place}_${nonce}`;
}

export function fromOwnerName(name: string): TicketOwner | undefined {
  const parts = /^(\d+)_(\d+)_([0-9a-f]+)_([0-9a-f-]+)$/.exec(name);
  if (!parts) return undefined;
  return { pid: Number(parts[1]), started: parts[2] ?? "", place: parts[3] ?? "", nonce: parts[4] ?? "" };
}

/**
 * Say whether whoever took a ticket is still there: the process by number and start time, and within it the thread by the
 * ticket's open file, which the end of a thread closes.
 */
export async function isOwnerAlive(owner: TicketOwner, file: string): Promise<boolean> {
  if (owner.place !== (await toPlace())) return await isYounger(file, FOREIGN_TICKET_MS);
  const found = await readProcess(owner.pid);
  if (process.platform !== "linux") return isSignalable(owner.pid);
  if (found === undefined || found.started !== owner.started || "ZX".includes(found.state)) return false;
  return (await holdsOpen(owner.pid, file)) || (await isYounger(file, FRESH_TICKET_MS));
}

async function isYounger(file: string, ageMs: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs < ageMs;
}

function isSignalable(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return toErrorCode(error) === "EPERM";
  }
}

async function holdsOpen(pid: number, file: string): Promise<boolean> {
  try {
    const handles = await readdir(`/proc/${pid}/fd`);
    for (const handle of handles) {
      const target = await readlink(`/proc/${pid}/fd/${handle}`).catch(() => "");
      if (target === file) return true;
    }
    return false;
  } catch (error) {
    // Somebody else's process can't be looked into, so it is believed.
    return toErrorCode(error) !== "ENOENT";
  }
}

async function readProcess(pid: number): Promise<{ state: string; started: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The command's name may hold blanks and brackets; the fields after its last bracket do not.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, started] = [fields[0], fields[19]];
  return state && started ? { state, started } : undefined;
}

async function toPlace(): Promise<string> {
  const [boot, namespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
    readlink("/proc/self/ns/pid").catch(() => ""),
  ]);
  return createHash("sha256").update(`${boot}${namespace}`).digest("hex").slice(0, 12);
}
