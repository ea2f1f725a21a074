import { realpath, stat } from "node:fs/promises";

/** The folders that count as inside: the workspace and the session's scratch folder. */
export interface Roots {
  workspace: string;
  scratch: string;
}

/** Say whether a path without links lies in one of the roots, on volumes that fold case too. */
export async function isInsideRoots(real: string, roots: Roots): Promise<boolean> {
  for (const root of [roots.workspace, roots.scratch]) {
    const realRoot = await toRealRoot(root);
    if (isBelow(real, realRoot) || (await isBelowFolded(real, realRoot))) return true;
  }
  return false;
}

/** Say whether `real` is `root` or lies below it, by whole path parts. */
export function isBelow(real: string, root: string): boolean {
  return real === root || real.startsWith(root.endsWith("/") ? root : `${root}/`);
}

async function toRealRoot(root: string): Promise<string> {
  // A root that does not exist yet has no links to follow.
  return await realpath(root).catch(() => root);
}

/** A volume that folds case shows one folder under several spellings: then device and inode decide, never the letters. */
async function isBelowFolded(real: string, root: string): Promise<boolean> {
  const fold = (path: string) => path.normalize("NFC").toLowerCase();
  if (!isBelow(fold(real), fold(root))) return false;
  const depth = root.split("/").length;
  const ancestor = real.split("/").slice(0, depth).join("/");
  const [one, other] = await Promise.all([toIdentity(ancestor), toIdentity(root)]);
  return one !== undefined && one === other;
}

async function toIdentity(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}
