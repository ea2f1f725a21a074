import type { BigIntStats } from "node:fs";
import { openRegularFile } from "../paths/open-file.ts";
import { Refusal, showPath, toErrorCode } from "../paths/refusal.ts";
import { type HeldLock, withFileLock } from "./file-lock.ts";
import {
  type FileHistory,
  type LedgerActor,
  loadHistory,
  recordSeen,
  recordWritten,
  toLastChange,
} from "./records.ts";
import { ChangedMeanwhile, replaceFile } from "./replace-file.ts";
import { MAX_HASHED_BYTES, toContentVersion, toStatVersion } from "./version.ts";

/** A file that somebody outside of the session keeps on changing is given up after this many tries. */
const MAX_TRIES = 3;

/** A file as it is under its lock. */
export interface CurrentFile {
  stats: BigIntStats;
  version: string;
  /** Absent for a file above 16 MiB. */
  content: Buffer | undefined;
}

export interface Change {
  owner: LedgerActor;
  /** Resolved path. */
  real: string;
  signal: AbortSignal;
  assertOwner: (() => Promise<void>) | undefined;
  /** Work out the new content; throws a Refusal to leave the file alone. May run again if the file changes meanwhile. */
  toContent: (current: CurrentFile | undefined, history: FileHistory) => Uint8Array;
}

/** Look at a file, work out its new content and put it in place, with nobody of the session in between. */
export async function changeFile(change: Change): Promise<void> {
  const { owner, real, signal } = change;
  await withFileLock(owner, real, signal, async (lock) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await changeOnce(change, lock);
        return;
      } catch (error) {
        if (!(error instanceof ChangedMeanwhile)) throw error;
        if (attempt < MAX_TRIES) continue;
        throw new Refusal(
          `${showPath(real)} keeps changing by someone outside the session; nothing was written`,
        );
      }
    }
  });
}

async function changeOnce(change: Change, lock: HeldLock): Promise<void> {
  const { owner, real, signal } = change;
  const [current, history] = await Promise.all([loadCurrent(real), loadHistory(owner, real)]);
  if (current) refuseReadOnly(real, current.stats);
  const content = change.toContent(current, history);
  const version = toContentVersion(content);
  const unseen = current && toUnseenChanger(current, history, owner.actor);
  await change.assertOwner?.();
  // Written before the change: after a crash in between, the file that is found has a name to it.
  let isRecorded = false;
  try {
    await replaceFile({
      real,
      content,
      previous: current?.stats,
      lock,
      beforeCommit: async () => {
        signal.throwIfAborted();
        isRecorded = true;
        await recordWritten(owner, real, {
          path: real,
          actor: owner.actor,
          version,
          unseen,
          ...(current && {
            before: { version: current.version, last: toLastChange(history, current.version) },
          }),
        });
        await change.assertOwner?.();
      },
    });
  } catch (error) {
    if (isRecorded) await recordWritten(owner, real, history.last).catch(() => {});
    throw error;
  }
  // Who edits a part does not know the rest by that.
  if (unseen !== undefined) return;
  // The change is in place by now, and its writer is on record: that it also saw it follows from that.
  await recordSeen(owner, real, version).catch(() => {});
}

async function loadCurrent(real: string): Promise<CurrentFile | undefined> {
  try {
    const { handle, stats } = await openRegularFile(real);
    try {
      if (stats.size > MAX_HASHED_BYTES) return { stats, version: toStatVersion(stats), content: undefined };
      const content = Buffer.alloc(Number(stats.size));
      const { bytesRead } = await handle.read(content, 0, content.length, 0);
      const whole = content.subarray(0, bytesRead);
      return { stats, version: toContentVersion(whole), content: whole };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (toErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Renaming a file into place would get around a missing write permission, so it is looked at. */
function refuseReadOnly(real: string, stats: BigIntStats): void {
  if ((stats.mode & 0o222n) === 0n) {
    throw new Refusal(`${showPath(real)} is read-only (mode ${(stats.mode & 0o777n).toString(8)})`);
  }
}

/** Say that, and by whom, a file was changed without this actor knowing it; undefined if it may overwrite it. */
export function toStaleReason(current: CurrentFile, history: FileHistory, actor: string): string | undefined {
  const changer = toUnseenChanger(current, history, actor);
  if (changer === undefined) return undefined;
  if (history.seen !== undefined) return `changed since you read it, by ${changer}`;
  return `changed by ${changer}, and you have not read it`;
}

/** Nobody is to be named for a file that this actor never read and nobody of the session changed. */
function toUnseenChanger(current: CurrentFile, history: FileHistory, actor: string): string | undefined {
  if (history.seen === current.version) return undefined;
  const last = toLastChange(history, current.version);
  if (last?.version === current.version) return last.actor === actor ? last.unseen : last.actor;
  if (history.seen !== undefined) return "someone outside the session";
  return last?.actor === actor ? undefined : last?.actor;
}
