import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { findChromium } from "./chromium.ts";
import { findTemporalBinary, findTestServerBinary } from "./temporal-binary.ts";

/** Run jest on everything, or on what the arguments name, and close with one line that counts. Fetches the servers and the browser that tests start. */

const BROWSER_TESTS = fileURLToPath(new URL("../browser", import.meta.url));

const countsSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
});

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  // Fetched once, before many test files want them at the same time.
  if (!args.every((arg) => arg.startsWith("test/unit")) || args.length === 0)
    await Promise.all([findTemporalBinary(), findTestServerBinary()]);
  const leftOut = await leaveOutBrowserTests(args);
  const folder = await mkdtemp(path.join(tmpdir(), "subagents-jest-"));
  const report = path.join(folder, "report.json");
  try {
    const code = await runJest([...args, ...leftOut, "--json", `--outputFile=${report}`]);
    const counts = await readCounts(report);
    if (counts === undefined) {
      console.log("jest died before it could count.");
      console.log("0 passed, 1 failed, 0 skipped");
      return code === 0 ? 1 : code;
    }
    // A file that could not be run at all counts as a failure, not as nothing.
    const failed = counts.numFailedTests + counts.numRuntimeErrorTestSuites;
    console.log(`${counts.numPassedTests} passed, ${failed} failed, ${counts.numPendingTests} skipped`);
    return code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Find a browser for the tests that need one. A person's machine that has none runs the others and is told; CI, and who asks for those tests by name, sees
 * them fail.
 *
 * @returns what to tell jest
 */
async function leaveOutBrowserTests(args: readonly string[]): Promise<string[]> {
  const patterns = args.filter((arg) => !arg.startsWith("-"));
  const names = await readdir(BROWSER_TESTS);
  const isSelected = (pattern: string) => names.some((name) => path.join(BROWSER_TESTS, name).match(pattern));
  if (patterns.length > 0 && !patterns.some(isSelected)) return [];
  try {
    await findChromium();
    return [];
  } catch (error) {
    if (patterns.length > 0 || process.env.CI) return [];
    console.log(`Tests of ${names.join(", ")} are left out: ${(error as Error).message}`);
    return [`--testPathIgnorePatterns=${BROWSER_TESTS}`, "--testPathIgnorePatterns=/node_modules/"];
  }
}

async function readCounts(report: string): Promise<z.infer<typeof countsSchema> | undefined> {
  const text = await readFile(report, "utf8").catch(() => undefined);
  return text === undefined ? undefined : countsSchema.parse(JSON.parse(text));
}

function runJest(args: string[]): Promise<number> {
  const jest = createRequire(import.meta.url).resolve("jest/bin/jest");
  const options = `${process.env.NODE_OPTIONS ?? ""} --experimental-vm-modules --no-warnings`.trim();
  const child = spawn(process.execPath, [jest, ...args], {
    // The JSON report goes to its file; standard output would only repeat it.
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_OPTIONS: options },
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

process.exitCode = await main();
