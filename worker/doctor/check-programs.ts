import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { readOwnPackage } from "../../activities/own-package.ts";
import { runCommand } from "../server/run-command.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const RUN_MS = 5_000;
const require = createRequire(import.meta.url);

/** See that the programs and packages that are needed are there and run. Starts none for longer than it takes to tell its version. */
export async function checkNode(): Promise<Finding[]> {
  const { version, node: range } = readOwnPackage();
  const needed = range.replace(/^>=/, "");
  const isOld = compareVersions(process.versions.node, needed) < 0;
  const node = `Node ${process.versions.node} at ${process.execPath}`;
  return [
    ok("temporal-subagents", `version ${version}`),
    isOld
      ? problem("node", `${node} is too old`, `use ${needed} or later`)
      : ok("node", `${node}; ${needed} or later is needed`),
    await checkSdk(),
  ];
}

function compareVersions(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}

const sdkPackages = ["client", "common", "workflow", "activity", "worker"];

/** The SDK's packages work with one another in one version only. */
async function checkSdk(): Promise<Finding> {
  const versions = new Map<string, string[]>();
  for (const name of sdkPackages) {
    const { version } = JSON.parse(
      await readFile(require.resolve(`@temporalio/${name}/package.json`), "utf8"),
    );
    versions.set(version, [...(versions.get(version) ?? []), name]);
  }
  if (versions.size === 1) return ok("temporal sdk", `@temporalio/* ${[...versions.keys()].join()}`);
  const list = [...versions].map(([version, names]) => `${version} (${names.join(", ")})`).join(", ");
  return problem(
    "temporal sdk",
    `@temporalio packages of different versions: ${list}`,
    "install one version of all of them",
  );
}

export async function checkGit(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { isOk, stdout, problem: reason } = await run("git", ["--version"], environment);
  if (isOk) return [ok("git", stdout.trim())];
  return [
    warning(
      "git",
      `git can't be run: ${reason}`,
      "install it: agents are taught to use it, and searches obey .gitignore without it too",
    ),
  ];
}

/** Glob and Grep run the program that comes with the package. */
export async function checkRipgrep(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { rgPath } = await import("@vscode/ripgrep");
  const { isOk, stdout, problem: reason } = await run(rgPath, ["--version"], environment);
  if (isOk) return [ok("ripgrep", `${stdout.split("\n")[0]?.trim()}, the packaged one`)];
  return [
    problem(
      "ripgrep",
      `${rgPath} can't be run (${reason}): Glob and Grep fail`,
      "install the package anew, for this system",
    ),
  ];
}

/** Without /proc a killed worker's processes are found by ps, which sees less. */
export async function checkProc(): Promise<Finding[]> {
  if (process.platform !== "linux") return [ok("processes", `told by ps on ${process.platform}`)];
  const isThere = await readFile("/proc/self/environ").then(
    () => true,
    () => false,
  );
  return [
    isThere
      ? ok("processes", "/proc can be read: what a killed worker leaves behind is found and ended")
      : warning(
          "processes",
          "/proc can't be read: what a killed worker leaves behind may stay",
          "mount /proc",
        ),
  ];
}

async function run(file: string, words: string[], environment: NodeJS.ProcessEnv) {
  return await runCommand(file, words, { environment, timeoutMs: RUN_MS });
}
