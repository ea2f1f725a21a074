// Real files and the real ripgrep; no server.

import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { globTool } from "../../activities/tools/glob.ts";
import { listMarkedProcesses } from "../support/search-processes.ts";
import { callTool, makeFifo, makeToolRoom, type ToolRoom } from "../support/tool-room.ts";

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeToolRoom();
  for (const path of [
    "index.ts",
    "src/a.ts",
    "src/b.tsx",
    "src/deep/c.ts",
    "src/deep/d.md",
    ".github/ci.yml",
  ]) {
    room.put(`repo/${path}`, "");
  }
});
afterEach(() => room.remove());

const glob = (input: object) => callTool(globTool, input, room.context);
const list = async (input: object) => (await glob(input)).text.split("\n");

test.each([
  ["**/*.ts", ["index.ts", "src/a.ts", "src/deep/c.ts"]],
  ["*.ts", ["index.ts", "src/a.ts", "src/deep/c.ts"]],
  ["./index.ts", ["index.ts"]],
  ["src/*.ts", ["src/a.ts"]],
  ["src/*.{ts,tsx}", ["src/a.ts", "src/b.tsx"]],
  ["src/**", ["src/a.ts", "src/b.tsx", "src/deep/c.ts", "src/deep/d.md"]],
  ["{src,.github}/*.{ts,yml}", [".github/ci.yml", "src/a.ts"]],
  ["**/[cd].*", ["src/deep/c.ts", "src/deep/d.md"]],
  ["**/?.md", ["src/deep/d.md"]],
  ["**/ci.yml", [".github/ci.yml"]],
  ["*.rs", ["no file matches *.rs"]],
])("%s lists what it says, sorted", async (pattern, expected) => {
  expect(await list({ pattern })).toEqual(expected);
});

test("an absolute pattern and a path within work", async () => {
  expect(await list({ pattern: `${room.workspace}/src/*.ts` })).toEqual(["src/a.ts"]);
  expect(await list({ pattern: "*.md", path: "src" })).toEqual(["src/deep/d.md"]);
  expect(await list({ pattern: "deep/*", path: `${room.workspace}/src` })).toEqual([
    "src/deep/c.ts",
    "src/deep/d.md",
  ]);
});

test("files of the scratch folder have absolute paths", async () => {
  const file = room.put("scratch/note.md", "");
  expect(await list({ pattern: "*", path: room.scratch })).toEqual([file]);
});

describe(".gitignore", () => {
  test.each([false, true])("is obeyed, git repository: %s", async (isRepository) => {
    if (isRepository) execFileSync("git", ["init", "-q", room.workspace]);
    room.put("repo/.gitignore", "*.log\nbuild/\n!keep.log\n");
    room.put("repo/src/.gitignore", "deep\n");
    for (const path of ["x.log", "keep.log", "src/y.log", "build/out.ts"]) room.put(`repo/${path}`, "");
    expect(await list({ pattern: "**/*.{log,ts}" })).toEqual(["index.ts", "keep.log", "src/a.ts"]);
    expect(await list({ pattern: "*.log", path: "src" })).toEqual(["no file matches *.log"]);
    expect(await list({ pattern: "*.log" })).toEqual(["keep.log"]);
  });

  test("of a folder above a workspace that is no repository does not count", async () => {
    room.put(".gitignore", "*.ts\nsrc\n");
    room.put("repo/.gitignore", "*.tsx\n");
    expect(await list({ pattern: "src/*" })).toEqual(["src/a.ts"]);
    expect(await list({ pattern: "*.ts" })).toEqual(["index.ts", "src/a.ts", "src/deep/c.ts"]);
  });

  test("does not hide a folder that is named as the path", async () => {
    room.put("repo/.gitignore", "vendor/\n");
    room.put("repo/vendor/lib/x.ts", "");
    expect(await list({ pattern: "**/x.ts" })).toEqual(["no file matches **/x.ts"]);
    expect(await list({ pattern: "*.ts", path: "vendor" })).toEqual(["vendor/lib/x.ts"]);
  });
});

test("version control's own data, links and special files are not listed", async () => {
  execFileSync("git", ["init", "-q", room.workspace]);
  symlinkSync("index.ts", `${room.workspace}/link.ts`);
  symlinkSync("..", `${room.workspace}/src/loop`);
  makeFifo(`${room.workspace}/pipe.ts`);
  expect(await list({ pattern: "**/*" })).toEqual([
    ".github/ci.yml",
    "index.ts",
    "src/a.ts",
    "src/b.tsx",
    "src/deep/c.ts",
    "src/deep/d.md",
  ]);
});

test("names that could drive a terminal or break lines are shown escaped", async () => {
  room.put("repo/odd/a\nb\u001b[2J\u202e.txt", "");
  expect(await list({ pattern: "odd/*" })).toEqual(["odd/a\\x0ab\\x1b[2J\\u{202e}.txt"]);
});

test("refuses what can't be a search", async () => {
  room.put("repo/file", "");
  expect((await glob({ pattern: "" })).text).toContain("the pattern is empty");
  expect((await glob({ pattern: "x".repeat(1_001) })).text).toContain("at most 1000 are taken");
  expect((await glob({ pattern: "*", path: "file" })).text).toContain("is a file; Glob starts in a folder");
  expect((await glob({ pattern: "*", path: "scr" })).text).toContain("does not exist; near it");
});

test("stops at 1,000 paths and says so", async () => {
  mkdirSync(`${room.workspace}/many`);
  for (let index = 0; index < 1_001; index++) writeFileSync(`${room.workspace}/many/${index}.dat`, "");
  const lines = await list({ pattern: "*.dat" });
  expect(lines).toHaveLength(1_001);
  expect(lines.at(-1)).toBe("[stopped early at 1000 paths; there may be more]");
  expect(lines.slice(0, -1)).toEqual(lines.slice(0, -1).toSorted());
});

test("stops at 50 KB and says so", async () => {
  const name = "n".repeat(200);
  mkdirSync(`${room.workspace}/many`);
  for (let index = 0; index < 400; index++) writeFileSync(`${room.workspace}/many/${name}${index}.dat`, "");
  const { text } = await glob({ pattern: "*.dat" });
  expect(text.length).toBeLessThan(52_000);
  expect(text).toContain("[stopped early at 50 KB; there may be more]");
});

test("stops in time, with what it has, and leaves no process", async () => {
  const context = { ...room.context, maxSeconds: 0.05, allowedOutside: ["/"] };
  const { text } = await callTool(globTool, { pattern: "/**/*" }, context);
  expect(text).toMatch(/\[stopped early (after 0\.\d s; not everything was searched|at 1000 paths)/);
  expect(listMarkedProcesses(room.context.runMarker)).toEqual([]);
});

test("ends with a stop, and leaves no process", async () => {
  const controller = new AbortController();
  const context = { ...room.context, allowedOutside: ["/"] };
  const searching = callTool(globTool, { pattern: "/**/*.no-such-file" }, context, controller.signal);
  while (listMarkedProcesses(room.context.runMarker).length === 0) await new Promise(setImmediate);
  controller.abort();
  expect(await searching).toEqual({ text: "stopped before it was done", isError: true });
  expect(listMarkedProcesses(room.context.runMarker)).toEqual([]);
});

test("whatever the pattern, the answer is well formed and bounded", async () => {
  const part = fc.constantFrom(
    "*",
    "**",
    "?",
    "[a-z]",
    "[",
    "{a,b}",
    "{",
    "}",
    "!",
    "src",
    "/",
    "..",
    ".",
    "\\",
    "\0",
    "(",
    "|",
    "+",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(part, fc.string()), { maxLength: 12 }), async (parts) => {
      const { text } = await glob({ pattern: parts.join("") });
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toContain("\0");
      expect(text.length).toBeLessThanOrEqual(60_000);
    }),
    { numRuns: 60 },
  );
});
