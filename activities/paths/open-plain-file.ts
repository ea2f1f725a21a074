import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { toFileKind } from "./file-kind.ts";

/** What goes by the name of a file is something else. */
export class NoPlainFile extends Error {
  override readonly name = "NoPlainFile";
}

/**
 * Open a regular file for reading; links are followed. A pipe without a writer would keep whoever opens it waiting, and no signal would end that.
 *
 * @throws NoPlainFile that names what it is instead; the system's error otherwise.
 */
export async function openPlainFile(file: string): Promise<FileHandle> {
  refuse(await stat(file));
  // It may have been replaced in between.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    refuse(await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function refuse(stats: Awaited<ReturnType<typeof stat>>): void {
  if (!stats.isFile()) throw new NoPlainFile(`it is a ${toFileKind(stats)}, not a regular file`);
}
