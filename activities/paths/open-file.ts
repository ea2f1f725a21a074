import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { toFileKind } from "./file-kind.ts";
import { Refusal, showPath } from "./refusal.ts";

const HANDLES = "/proc/self/fd";
/** A file that is replaced again and again while being opened is given up after this many tries. */
const MAX_TRIES = 5;

export interface OpenedFile {
  handle: FileHandle;
  stats: BigIntStats;
}

/**
 * Open a resolved regular file for reading without waiting for anybody and without following a link that came in between.
 *
 * @throws Refusal that names the kind of what is no regular file, or where the path leads by now; the system's error otherwise.
 */
export async function openRegularFile(real: string): Promise<OpenedFile> {
  let actual = real;
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    refuseSpecial(real, await lstat(real));
    const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat({ bigint: true });
      refuseSpecial(real, stats);
      actual = await toActualPath(handle, real);
      if (actual === real) return { handle, stats };
      await handle.close();
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
  throw new Refusal(`${showPath(real)} changed while it was opened; it leads to ${showPath(actual)} now`);
}

/** Where an open handle's file lies; other systems than Linux answer for the path instead of the handle. */
export async function toActualPath(handle: FileHandle, real: string): Promise<string> {
  return process.platform === "linux" ? await readlink(`${HANDLES}/${handle.fd}`) : await realpath(real);
}

/** A path that reaches the handle's folder whatever happens to its name; elsewhere than on Linux the name itself. */
export function toHandlePath(handle: FileHandle, real: string): string {
  return process.platform === "linux" ? `${HANDLES}/${handle.fd}` : real;
}

function refuseSpecial(real: string, stats: Parameters<typeof toFileKind>[0]): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) {
    throw new Refusal(`${showPath(real)} is a directory, not a file; Glob lists what is in it`);
  }
  throw new Refusal(`${showPath(real)} is a ${toFileKind(stats)}, not a regular file`);
}
