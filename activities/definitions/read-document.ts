import { constants, type Stats } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { sep } from "node:path";
import { MAX_PROMPT_BYTES } from "../../core/definition.ts";
import { type Finding, refusal, toErrorCode } from "./problem.ts";

/** Frontmatter in UTF-8, its two marks not counted: ample for a description with examples. */
export const MAX_FRONT_MATTER_BYTES = 16 * 1_024;
/** A byte-order mark, the two marks and line ends around them. */
const SLACK_BYTES = 1_024;
const MAX_FILE_BYTES = MAX_PROMPT_BYTES + MAX_FRONT_MATTER_BYTES + SLACK_BYTES;

/** A document's bytes. With a fault they are its beginning or nothing, good for finding the document's name alone. */
export interface ReadBytes {
  bytes: Buffer;
  fault?: Finding;
}

/**
 * Read one document in bounded time and memory: only a regular file, never more than the limit, and an open that can't block on a
 * pipe or a device. With `within` the file's real path must lie in that folder.
 */
export async function readDocument(file: string, within?: string): Promise<ReadBytes> {
  try {
    const real = await realpath(file);
    if (within !== undefined && !real.startsWith(within + sep)) {
      return failed("is a link out of the repository", "a file of the repository itself");
    }
    const kind = describeKind(await stat(real));
    if (kind !== undefined) return failed(`is ${kind}, not a regular file`, "a regular file");
    return await readRegular(real);
  } catch (error) {
    return failed(`cannot be read (${toErrorCode(error)})`, "a file that this user may read");
  }
}

async function readRegular(real: string): Promise<ReadBytes> {
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    // The file may have been swapped since it was looked at: what was opened is looked at again.
    const kind = describeKind(await handle.stat());
    if (kind !== undefined) return failed(`is ${kind}, not a regular file`, "a regular file");
    const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length <= MAX_FILE_BYTES) return { bytes: buffer.subarray(0, length) };
    return { bytes: buffer.subarray(0, MAX_FRONT_MATTER_BYTES), fault: tooLarge() };
  } finally {
    await handle.close();
  }
}

/** Refuse a prompt above the limit. */
export function tooLarge(): Finding {
  return refusal(0, "", `the prompt is above ${MAX_PROMPT_BYTES / 1_024} KiB`, "a shorter prompt");
}

function failed(message: string, instead: string): ReadBytes {
  return { bytes: Buffer.alloc(0), fault: refusal(0, "", message, instead) };
}

function describeKind(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe (FIFO)";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
