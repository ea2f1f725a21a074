import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { findTemporalBinary } from "../support/temporal-binary.ts";
import { ensureIn, makeBench, removeBench, type ServerBench } from "./server-bench.ts";

let bench: ServerBench;
let temporal: string;

beforeEach(async () => {
  temporal = await findTemporalBinary();
  bench = await makeBench();
}, 240_000);

afterEach(() => removeBench(bench), 60_000);

/** Put a program before the real one, which it can `become`, or `run` to its end. */
function wrapTemporal(beforeServer: string): void {
  const file = path.join(bench.stateFolder.bin, "1.9.1", "temporal");
  rmSync(file);
  writeFileSync(
    file,
    `#!${process.execPath}
const { spawnSync } = require("node:child_process");
const { existsSync, writeFileSync } = require("node:fs");
const real = ${JSON.stringify(temporal)};
const args = process.argv.slice(2);
const become = () => process.execve(real, [real, ...args], process.env);
const run = () => process.exit(spawnSync(real, args, { stdio: "inherit" }).status ?? 1);
if (args[0] !== "server") become();
${beforeServer}
`,
  );
  chmodSync(file, 0o755);
}

test("a server that does not start is an error with the end of its log", async () => {
  wrapTemporal(`console.error("unable to open database file: disk I/O error"); process.exit(1);`);
  const problem = ensureIn(bench);
  await expect(problem).rejects.toMatchObject({ code: "Server.NotStarted", exitCode: 2 });
  await expect(problem).rejects.toThrow(/disk I\/O error/);
  // The failure does not stay: the next run tries again.
  await expect(ensureIn(bench)).rejects.toThrow(/disk I\/O error/);
}, 60_000);

test("a database that is no database is an error that says so", async () => {
  const { devServer } = bench.stateFolder;
  mkdirSync(devServer, { recursive: true });
  writeFileSync(path.join(devServer, "temporal.db"), "this is no database".repeat(100));
  await expect(ensureIn(bench)).rejects.toThrow(/file is not a database/);
}, 60_000);

test("a port that is taken between choice and use costs another try", async () => {
  const once = JSON.stringify(path.join(bench.root, "once"));
  wrapTemporal(`
const port = Number(args[args.indexOf("--port") + 1]);
if (existsSync(${once})) become();
writeFileSync(${once}, String(port));
require("node:net").createServer().listen(port, "127.0.0.1", run);`);
  const lease = await ensureIn(bench);
  expect(lease.isOurs).toBe(true);
  expect(lease.address).not.toBe(`127.0.0.1:${readFileSync(path.join(bench.root, "once"), "utf8")}`);
  await lease.release();
}, 60_000);
