import { opendir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { nearestName } from "../../core/names.ts";
import { showPath, toErrorCode } from "../paths/refusal.ts";

const MAX_NAMES_READ = 2_000;
const MAX_NAMES_SHOWN = 3;

/** Say what is missing of a resolved path, and which names beside it are close to what was meant. */
export async function describeMissing(real: string): Promise<string> {
  let missing = real;
  for (;;) {
    const folder = dirname(missing);
    const names = await listNames(folder);
    if (names !== undefined) return toText(missing, folder, names);
    if (folder === missing) return `${showPath(real)} does not exist`;
    missing = folder;
  }
}

function toText(missing: string, folder: string, names: string[]): string {
  const near = toNearNames(basename(missing), names);
  const hint = near.length > 0 ? `; near it in ${showPath(folder)}: ${near.map(showPath).join(", ")}` : "";
  return `${showPath(missing)} does not exist${hint}`;
}

async function listNames(folder: string): Promise<string[] | undefined> {
  try {
    const names: string[] = [];
    for await (const entry of await opendir(folder)) {
      names.push(entry.name);
      if (names.length >= MAX_NAMES_READ) break;
    }
    return names;
  } catch (error) {
    return toErrorCode(error) === "ENOENT" ? undefined : [];
  }
}

function toNearNames(wanted: string, names: string[]): string[] {
  const candidates = new Map(names.sort().map((name) => [name.toLowerCase(), name]));
  const near: string[] = [];
  while (near.length < MAX_NAMES_SHOWN) {
    const found = nearestName(wanted, [...candidates.keys()]);
    if (found === undefined) break;
    near.push(candidates.get(found) ?? found);
    candidates.delete(found);
  }
  return near;
}
