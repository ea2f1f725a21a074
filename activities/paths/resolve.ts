import { lstat, readlink } from "node:fs/promises";
import { isInsideRoots, type Roots } from "./inside.ts";
import { Refusal, showPath, toErrorCode } from "./refusal.ts";

const MAX_PATH_BYTES = 4_095;
const MAX_PART_BYTES = 255;
/** As many links as Linux itself follows. */
const MAX_LINKS = 40;

export interface ResolvedPath {
  spelled: string;
  /** Absolute, every link followed, also a dangling one: what is shown, checked and used. */
  real: string;
  isInside: boolean;
  /** What the model should know of how its spelling was read; "" for an ordinary path. */
  note: string;
}

/**
 * Resolve a path as the kernel would: links in every position are followed, `..` leaves the folder that a link led to, parts that
 * do not exist are kept. Nothing is expanded: `~`, `$NAME` and `%2e` are names like any other.
 *
 * The result is used as it is for the check and for the work, so that the two can't differ.
 *
 * @throws Refusal if the path can't name a file.
 */
export async function resolvePath(spelled: string, roots: Roots): Promise<ResolvedPath> {
  refuseUnusable(spelled);
  const real = await followAll(spelled.startsWith("/") ? spelled : `${roots.workspace}/${spelled}`, spelled);
  return { spelled, real, isInside: await isInsideRoots(real, roots), note: toSpellingNote(spelled) };
}

function refuseUnusable(spelled: string): void {
  if (spelled === "") throw new Refusal("the path is empty: name a file");
  if (spelled.includes("\0")) throw new Refusal(`the path ${showPath(spelled)} has a NUL character in it`);
  if (!spelled.isWellFormed()) throw new Refusal(`the path ${showPath(spelled)} is not well-formed text`);
  const bytes = Buffer.byteLength(spelled);
  if (bytes > MAX_PATH_BYTES) {
    throw new Refusal(`the path has ${bytes} bytes, at most ${MAX_PATH_BYTES} are possible`);
  }
  const longest = spelled.split("/").find((part) => Buffer.byteLength(part) > MAX_PART_BYTES);
  if (longest !== undefined) {
    throw new Refusal(`a part of the path is longer than ${MAX_PART_BYTES} bytes: ${showPath(longest)}`);
  }
}

async function followAll(absolute: string, spelled: string): Promise<string> {
  const pending = absolute.split("/").reverse();
  let current = "";
  let links = 0;
  while (pending.length > 0) {
    const part = pending.pop();
    if (part === undefined || part === "" || part === ".") continue;
    if (part === "..") {
      current = current.slice(0, Math.max(0, current.lastIndexOf("/")));
      continue;
    }
    const target = await readLink(`${current}/${part}`);
    if (target === undefined) {
      current = `${current}/${part}`;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS)
      throw new Refusal(`${showPath(spelled)} goes through more than ${MAX_LINKS} links`);
    if (target.startsWith("/")) current = "";
    pending.push(...target.split("/").reverse());
  }
  return current === "" ? "/" : current;
}

/** The target of a link; undefined for what is none or does not exist. */
async function readLink(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (error) {
    const code = toErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    // Replaced between the two calls: what is there now is met again, and checked, when it is opened.
    if (code === "EINVAL") return undefined;
    throw new Refusal(`${showPath(path)} can't be looked at: ${code || String(error)}`);
  }
}

function toSpellingNote(spelled: string): string {
  if (spelled.startsWith("~"))
    return "`~` is not expanded: it is taken as a name below the workspace. Use an absolute path.";
  if (/\$[A-Za-z_{]/.test(spelled)) return "`$NAME` is not expanded: it is taken as a name.";
  if (/%2[ef]/i.test(spelled)) return "`%2e` and the like are not decoded: they are taken as names.";
  return "";
}
