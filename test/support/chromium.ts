import { access, constants } from "node:fs/promises";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";
import { runCommand } from "../../worker/server/run-command.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** Where it lies on macOS, which puts no program of it on PATH. */
const PLACES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
/** Works without a graphics card and as root, and asks nobody on the internet for anything. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Find a browser for tests that look at Temporal Web: the one that CHROME_PATH names, on PATH, in its usual place, or installed by apt-get where this user may
 * do that.
 *
 * @throws Error that says what to install.
 */
export async function findChromium(): Promise<string> {
  const found = await findHere();
  if (found !== undefined) return found;
  const problem = process.getuid?.() === 0 ? await install() : "this user may not install it";
  const installed = await findHere();
  if (installed !== undefined) return installed;
  throw new Error(
    `the browser tests need Chromium or Chrome, on PATH or named by CHROME_PATH (${problem}): on Debian \`apt-get install chromium\``,
  );
}

/** Start a browser without a window. */
export async function startChromium(): Promise<Browser> {
  return await chromium.launch({ executablePath: await findChromium(), args: FLAGS });
}

async function install(): Promise<string> {
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { environment, timeoutMs: INSTALL_TIMEOUT_MS };
  await runCommand("apt-get", ["update", "--quiet"], options);
  const words = ["install", "--yes", "--quiet", "--no-install-recommends", "chromium"];
  const { problem } = await runCommand("apt-get", words, options);
  return `apt-get could not install it: ${problem}`;
}

async function findHere(): Promise<string | undefined> {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const onPath = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const named = process.env.CHROME_PATH ? [process.env.CHROME_PATH] : [];
  for (const candidate of [...named, ...onPath, ...PLACES]) {
    const isExecutable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return candidate;
  }
  return undefined;
}
