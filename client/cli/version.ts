import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The version of this installation. Its package file lies above this one, in a clone as in a package. */
export function readVersion(): string {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    const file = path.join(folder, "package.json");
    if (existsSync(file)) return String(JSON.parse(readFileSync(file, "utf8")).version);
    if (folder === path.dirname(folder)) return "unknown";
  }
}
