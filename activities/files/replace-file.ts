import { randomUUID } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { basename } from "node:path";
import { type OpenedFolder, openParentFolder, verifyFolder } from "../paths/open-folder.ts";
import { toErrorCode } from "../paths/refusal.ts";
import { type HeldLock, UNFINISHED_PREFIX } from "./file-lock.ts";
import { toFileIdentity } from "./version.ts";

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const NEW_FILE_MODE = 0o666;
const PERMISSIONS = 0o7777n;

/** The file is not what it was when the change was worked out; nothing was written. */
export class ChangedMeanwhile extends Error {
  override name = "ChangedMeanwhile";
}

export interface Replacement {
  /** Resolved path. */
  real: string;
  content: Uint8Array;
  /** The file that was looked at; undefined if there was none. */
  previous: BigIntStats | undefined;
  lock: HeldLock;
  /** Runs last before the new content is in place; throws to leave everything as it was. */
  beforeCommit: () => Promise<void>;
}

/**
 * Put a whole new content in place of a file, or create it: readers see the old content or the new one, never a part. Keeps the
 * mode and, where the system lets us, the owner. If anything fails, the old file is untouched and nothing is left over.
 *
 * @throws ChangedMeanwhile if the file is not `previous` any more.
 */
export async function replaceFile(replacement: Replacement): Promise<void> {
  const folder = await openParentFolder(replacement.real);
  try {
    const unfinished = `${UNFINISHED_PREFIX}${randomUUID()}`;
    await replacement.lock.noteUnfinished(`${folder.real}/${unfinished}`);
    try {
      await writeWhole(`${folder.path}/${unfinished}`, replacement);
      await commit(folder, unfinished, replacement);
    } catch (error) {
      await unlink(`${folder.path}/${unfinished}`).catch(() => {});
      throw error;
    }
    // The content is safe by itself; that the name is, too, is a courtesy that not every file system offers.
    await folder.handle.sync().catch(() => {});
  } finally {
    await folder.handle.close();
  }
}

async function writeWhole(file: string, { content, previous }: Replacement): Promise<void> {
  const handle = await open(file, CREATE, NEW_FILE_MODE);
  try {
    await handle.writeFile(content);
    if (previous) await keepOwnerAndMode(handle, previous);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function keepOwnerAndMode(handle: FileHandle, previous: BigIntStats): Promise<void> {
  const now = await handle.stat({ bigint: true });
  if (now.uid !== previous.uid || now.gid !== previous.gid) {
    await handle.chown(Number(previous.uid), Number(previous.gid)).catch(() => {});
  }
  await handle.chmod(Number(previous.mode & PERMISSIONS));
}

async function commit(folder: OpenedFolder, unfinished: string, replacement: Replacement): Promise<void> {
  const { real, previous, lock, beforeCommit } = replacement;
  const file = `${folder.path}/${basename(real)}`;
  await beforeCommit();
  await lock.assertHeld();
  await verifyFolder(folder);
  const now = await lstat(file, { bigint: true }).catch((error: unknown) => {
    if (toErrorCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if ((now && toFileIdentity(now)) !== (previous && toFileIdentity(previous))) throw new ChangedMeanwhile();
  await rename(`${folder.path}/${unfinished}`, file);
}
