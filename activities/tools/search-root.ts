import { lstat, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { toFileKind } from "../paths/file-kind.ts";
import { Refusal, showPath, toErrorCode } from "../paths/refusal.ts";
import { joinLines } from "./answer.ts";
import { toAllowedPath } from "./gate.ts";
import { describeMissing } from "./near-names.ts";
import type { SearchOutcome } from "./ripgrep.ts";
import type { ToolContext } from "./tool.ts";

export interface SearchRoot {
  real: string;
  note: string;
  isFolder: boolean;
}

/** Resolve where a search starts: an allowed folder or regular file. */
export async function toSearchRoot(spelled: string, context: ToolContext): Promise<SearchRoot> {
  const { real, note } = await toAllowedPath(spelled, context);
  try {
    const stats = await lstat(real);
    if (stats.isDirectory() || stats.isFile()) return { real, note, isFolder: stats.isDirectory() };
    throw new Refusal(`${showPath(real)} is a ${toFileKind(stats)}, which is not searched`);
  } catch (error) {
    if (toErrorCode(error) !== "ENOENT") throw error;
    throw new Refusal(joinLines(await describeMissing(real), note));
  }
}

/**
 * Drop what was found under a folder that became a link while the search ran, and so lies elsewhere; a name that is not UTF-8 can't
 * be told from that.
 */
export async function keepWhereFound<T>(
  found: T[],
  toPath: (item: T) => string,
): Promise<{ kept: T[]; note: string }> {
  const folders = new Map<string, boolean>();
  const kept: T[] = [];
  for (const item of found) {
    const folder = dirname(toPath(item));
    let isThere = folders.get(folder);
    if (isThere === undefined) {
      isThere = (await realpath(folder).catch(() => undefined)) === folder;
      folders.set(folder, isThere);
    }
    if (isThere) kept.push(item);
  }
  const dropped = found.length - kept.length;
  if (dropped === 0) return { kept, note: "" };
  return { kept, note: `[${dropped} left out: their folder moved meanwhile, or its name is not UTF-8]` };
}

/** Say truthfully how far a search came; "" if it saw everything. */
export function describeEnd({ end, seconds, complaint }: SearchOutcome, limit: string): string {
  const stopped = {
    done: undefined,
    stopped: `[stopped early at ${limit}; there may be more]`,
    timeout: `[stopped early after ${seconds.toFixed(1)} s; not everything was searched: name a narrower path or pattern]`,
  }[end];
  return joinLines(stopped, complaint && `[not everything could be searched: ${complaint}]`);
}
