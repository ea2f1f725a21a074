import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";

/**
 * List the `.json` and `.jsonl` of a folder and of all in it, in the order of names. Links are followed; what is reached in several ways is listed
 * once. What can't be looked at is listed too: reading it says why.
 */
export async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  await walk(folder, found, seen);
  const files: string[] = [];
  for (const file of found.toSorted()) {
    const real = await realpath(file).catch(() => file);
    if (!seen.has(real)) files.push(file);
    seen.add(real);
  }
  return files;
}

async function walk(folder: string, found: string[], seen: Set<string>): Promise<void> {
  const real = await realpath(folder);
  if (seen.has(real)) return;
  seen.add(real);
  for (const name of (await readdir(folder)).toSorted()) {
    const place = path.join(folder, name);
    const stats = await stat(place).catch(() => undefined);
    if (stats?.isDirectory()) await walk(place, found, seen).catch(() => void found.push(place));
    else if (/\.jsonl?$/i.test(name)) found.push(place);
  }
}
