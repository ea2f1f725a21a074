import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { toActualPath, toHandlePath } from "./open-file.ts";
import { Refusal, showPath, toErrorCode } from "./refusal.ts";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A folder held open: names below `path` stay in it even if the folder is moved or its name becomes a link. */
export interface OpenedFolder {
  handle: FileHandle;
  path: string;
  real: string;
}

/**
 * Open the folder of a resolved path and create what is missing of it, one part at a time from the deepest one that exists.
 *
 * @throws Refusal if the path leads elsewhere by now, or through something that is no folder.
 */
export async function openParentFolder(real: string): Promise<OpenedFolder> {
  const missing: string[] = [];
  let existing = dirname(real);
  let folder = await openFolder(existing);
  while (folder === undefined) {
    missing.unshift(existing.slice(existing.lastIndexOf("/") + 1));
    existing = dirname(existing);
    folder = await openFolder(existing);
  }
  for (const name of missing) folder = await openBelow(folder, name);
  return folder;
}

/** Check that an open folder still is where it was resolved to be. */
export async function verifyFolder(folder: OpenedFolder): Promise<void> {
  const actual = await toActualPath(folder.handle, folder.real);
  if (actual === folder.real) return;
  throw new Refusal(
    `${showPath(folder.real)} changed while it was used; it leads to ${showPath(actual)} now, and nothing was written`,
  );
}

async function openFolder(real: string): Promise<OpenedFolder | undefined> {
  try {
    const handle = await open(real, FOLDER);
    return await toVerified(handle, real);
  } catch (error) {
    if (toErrorCode(error) === "ENOENT") return undefined;
    throw toFolderRefusal(error, real);
  }
}

async function openBelow(parent: OpenedFolder, name: string): Promise<OpenedFolder> {
  const real = parent.real === "/" ? `/${name}` : `${parent.real}/${name}`;
  try {
    await mkdir(`${parent.path}/${name}`).catch((error: unknown) => {
      if (toErrorCode(error) !== "EEXIST") throw error;
    });
    return await toVerified(await open(`${parent.path}/${name}`, FOLDER), real);
  } catch (error) {
    throw toFolderRefusal(error, real);
  } finally {
    await parent.handle.close();
  }
}

async function toVerified(handle: FileHandle, real: string): Promise<OpenedFolder> {
  const folder = { handle, path: toHandlePath(handle, real), real };
  try {
    await verifyFolder(folder);
    return folder;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function toFolderRefusal(error: unknown, real: string): unknown {
  const code = toErrorCode(error);
  // Linux answers ENOTDIR for a link too where a folder was asked for.
  if (code !== "ENOTDIR" && code !== "ELOOP") return error;
  return new Refusal(
    `${showPath(real)} is not a directory, or has become a link meanwhile; nothing was written`,
  );
}
