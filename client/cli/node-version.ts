import { readOwnPackage } from "../../worker/own-package.ts";

/**
 * Say which Node is needed if the one that runs is too old; undefined if it is not. Runs, and everything it is linked with, on any Node that knows
 * modules: what is newer must be loaded after it.
 *
 * @param needed As a package file has it, such as `>=22.19`.
 */
export function findNodeProblem(
  running = process.versions.node,
  needed = readOwnPackage().node,
): string | undefined {
  const least = needed.replace(/^>=/, "");
  const [major = 0, minor = 0] = running.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined;
  return `subagents needs Node ${least} or later; this is ${running}`;
}
