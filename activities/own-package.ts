import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** What is read of the package file of this installation. */
export interface OwnPackage {
  version: string;
  /** The Node that is needed, as npm writes it. */
  node: string;
}

const unknown: OwnPackage = { version: "unknown", node: "" };
let found: OwnPackage | undefined;

/**
 * Read the package file of this installation: it lies above this file, in a clone as in a package.
 *
 * Where it does not, as in a host that has bundled this code into its own, the version is unknown; nothing fails for that.
 */
export function readOwnPackage(): OwnPackage {
  found ??= search();
  return found;
}

function search(): OwnPackage {
  try {
    for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
      const manifest = readManifest(folder);
      if (manifest !== undefined) return manifest;
      if (folder === path.dirname(folder)) return unknown;
    }
  } catch {
    return unknown;
  }
}

function readManifest(folder: string): OwnPackage | undefined {
  try {
    const { name, version, engines } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    return name === "temporal-subagents"
      ? { version: String(version), node: String(engines?.node ?? "") }
      : undefined;
  } catch {
    return undefined;
  }
}
