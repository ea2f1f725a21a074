import { type FileHandle, mkdir, open, readdir, readFile, realpath, unlink } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Refusal, showPath } from "../paths/refusal.ts";
import { type LedgerActor, toFileKey } from "./records.ts";
import { fromOwnerName, isOwnerAlive, toOwnerName, toOwnTicket } from "./ticket-owner.ts";

/** A change takes milliseconds; whoever waits this long is told so instead. */
const LOCK_WAIT_MS = 10_000;
const FIRST_POLL_MS = 4;
const LAST_POLL_MS = 64;
/** Prefix of every file that a change writes before it is renamed into place. */
export const UNFINISHED_PREFIX = ".subagents-unfinished-";

export interface HeldLock {
  /** Note the file that this change writes first, so that whoever finds the ticket of a dead owner can remove it. */
  noteUnfinished(file: string): Promise<void>;
  /** @throws Refusal if somebody took this owner for dead meanwhile. */
  assertHeld(): Promise<void>;
}

interface Ticket {
  /** Kind or queue number, in the order in which tickets are served. */
  number: string;
  owner: string;
  file: string;
}

/**
 * Run `work` while no other thread or process of this host changes the same file for this session, in the order of arrival.
 *
 * Tickets in a folder (Lamport's bakery): each contender draws a number above all that it sees and is served when no living
 * contender has a lower one. A ticket has a name of its own for ever, so removing a dead one can't hit a living one.
 *
 * @throws Refusal after 10 s, with the name of who holds the file.
 */
export async function withFileLock<T>(
  owner: LedgerActor,
  real: string,
  signal: AbortSignal,
  work: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const locks = `${owner.ledger}/locks`;
  await mkdir(locks, { recursive: true, mode: 0o700 });
  const folder = await realpath(locks);
  // Folded, so that two spellings of one file on a volume that folds case wait for each other.
  const key = toFileKey(real.normalize("NFC").toLowerCase());
  const own = toOwnerName(await toOwnTicket());
  const choosing = await openTicket(`${folder}/${key}.choosing.${own}`);
  let ticket: { handle: FileHandle; file: string } | undefined;
  try {
    ticket = await drawNumber(folder, key, own, owner.actor);
    await choosing.drop();
    await waitForTurn(folder, key, ticket.file, real, signal);
    return await work(toHeldLock(ticket, owner.actor, real));
  } finally {
    await choosing.drop();
    if (ticket) await dropTicket(ticket.handle, ticket.file);
  }
}

async function drawNumber(folder: string, key: string, own: string, actor: string) {
  const numbers = (await listTickets(folder, key)).map(({ number }) => Number(number) || 0);
  const number = String(Math.max(0, ...numbers) + 1).padStart(12, "0");
  const file = `${folder}/${key}.${number}.${own}`;
  const handle = await open(file, "wx", 0o600);
  await handle.write(JSON.stringify({ actor }), 0);
  return { handle, file };
}

async function waitForTurn(
  folder: string,
  key: string,
  ownFile: string,
  real: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, LAST_POLL_MS)) {
    const blocker = await findBlocker(folder, key, ownFile);
    if (blocker === undefined) return;
    signal.throwIfAborted();
    if (performance.now() > deadline) {
      const { actor } = await readNote(blocker);
      throw new Refusal(
        `${showPath(real)} is being changed by ${actor ?? "somebody else"} for more than ${LOCK_WAIT_MS / 1000} s; nothing was written, try again`,
      );
    }
    await wait(pollMs, undefined, { signal });
  }
}

/** The file of a living contender that is served first; two listings, since a number may be drawn between reading them. */
async function findBlocker(folder: string, key: string, ownFile: string): Promise<string | undefined> {
  const isEarlier: Array<(ticket: Ticket) => boolean> = [
    ({ number }) => number === "choosing",
    ({ number, file }) => number !== "choosing" && file < ownFile,
  ];
  for (const blocks of isEarlier) {
    for (const ticket of (await listTickets(folder, key)).filter(blocks)) {
      const owner = fromOwnerName(ticket.owner);
      if (owner === undefined) continue;
      if (await isOwnerAlive(owner, ticket.file)) return ticket.file;
      await clearAway(ticket.file);
    }
  }
  return undefined;
}

async function listTickets(folder: string, key: string): Promise<Ticket[]> {
  return (await readdir(folder)).flatMap((name) => {
    const [ticketKey, number, owner] = name.split(".");
    if (ticketKey !== key || number === undefined || owner === undefined) return [];
    return [{ number, owner, file: `${folder}/${name}` }];
  });
}

/** Remove a dead owner's ticket and the file that it left unfinished. */
async function clearAway(file: string): Promise<void> {
  const { unfinished } = await readNote(file);
  if (unfinished && basename(unfinished).startsWith(UNFINISHED_PREFIX)) {
    await unlink(unfinished).catch(() => {});
  }
  await unlink(file).catch(() => {});
}

async function readNote(file: string): Promise<{ actor?: string; unfinished?: string }> {
  try {
    const note: unknown = JSON.parse(await readFile(file, "utf8"));
    return typeof note === "object" && note !== null ? note : {};
  } catch {
    return {};
  }
}

async function openTicket(file: string): Promise<{ drop: () => Promise<void> }> {
  const handle = await open(file, "wx", 0o600);
  let isDropped = false;
  return {
    drop: async () => {
      if (isDropped) return;
      isDropped = true;
      await dropTicket(handle, file);
    },
  };
}

/** The name goes first: a ticket without an open file would look dead while it still counts. */
async function dropTicket(handle: FileHandle, file: string): Promise<void> {
  await unlink(file).catch(() => {});
  await handle.close().catch(() => {});
}

function toHeldLock(ticket: { handle: FileHandle }, actor: string, real: string): HeldLock {
  return {
    noteUnfinished: async (unfinished) => {
      await ticket.handle.write(JSON.stringify({ actor, unfinished }), 0);
    },
    assertHeld: async () => {
      const { nlink } = await ticket.handle.stat();
      if (nlink === 0) {
        throw new Refusal(`the lock on ${showPath(real)} was lost; nothing was written, try again`);
      }
    },
  };
}
