// Real files and the real ripgrep; no server.

import { execFileSync } from "node:child_process";
import { closeSync, linkSync, openSync, readFileSync, symlinkSync, writeSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { grepTool } from "../../activities/tools/grep.ts";
import { listMarkedProcesses } from "../support/search-processes.ts";
import { callTool, makeFifo, makeToolRoom, type ToolRoom } from "../support/tool-room.ts";

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeToolRoom();
  room.put("repo/b.ts", "one\ntwo needle\n");
  room.put("repo/a/c.ts", "needle first\nNeedle\nneedle\n");
  room.put("repo/a/d.md", "a needle: here\n");
});
afterEach(() => room.remove());

const grep = (input: object) => callTool(grepTool, input, room.context);
const text = async (input: object) => (await grep(input)).text;

test("finds lines in all files, sorted by path, with line numbers", async () => {
  expect(await text({ pattern: "needle" })).toBe(
    ["a/c.ts:1:needle first", "a/c.ts:3:needle", "a/d.md:1:a needle: here", "b.ts:2:two needle"].join("\n"),
  );
});

test("takes a file as the path, a folder, and both with a file pattern", async () => {
  expect(await text({ pattern: "needle", path: "b.ts" })).toBe("b.ts:2:two needle");
  expect(await text({ pattern: "needle", path: "a", glob: "*.md" })).toBe("a/d.md:1:a needle: here");
  expect(await text({ pattern: "two", glob: "*.{ts,js}" })).toBe("b.ts:2:two needle");
  expect(await text({ pattern: "needle$", glob: "a/**/*.ts" })).toBe("a/c.ts:3:needle");
  expect(await text({ pattern: "first", glob: `${room.workspace}/a/*` })).toBe("a/c.ts:1:needle first");
  expect(await text({ pattern: "first", path: "a", glob: "a/*.ts" })).toBe("no match");
  expect(await text({ pattern: "two", glob: "{a/c,b}.ts" })).toBe("b.ts:2:two needle");
});

test("regards case unless told otherwise", async () => {
  expect(await text({ pattern: "^NEEDLE$" })).toBe("no match");
  expect(await text({ pattern: "^NEEDLE$", ignoreCase: true })).toBe("a/c.ts:2:Needle\na/c.ts:3:needle");
});

test.each(["-needle", "--files", "-", "--pre=touch /tmp/x", "-e", "--"])(
  "the pattern %j is a pattern, never an option",
  async (pattern) => {
    room.put("repo/dash.txt", `x ${pattern} y\n`);
    expect(await text({ pattern, path: "dash.txt" })).toBe(`dash.txt:1:x ${pattern} y`);
  },
);

test("a path that starts with a dash is a path", async () => {
  room.put("repo/-n/x", "needle\n");
  expect(await text({ pattern: "needle", path: "-n" })).toBe("-n/x:1:needle");
});

test.each(["(", "[a", "a{2,1}", "(?=x)", "\\"])("the bad expression %j is named as one", async (pattern) => {
  const result = await grep({ pattern });
  expect(result.isError).toBe(true);
  expect(result.text).toContain("the pattern is no valid regular expression: ");
});

test.each([
  ["", "the pattern is empty"],
  ["a\0b", "NUL character"],
  ["x".repeat(10_001), "at most 10000 are taken"],
  ["a\nb", "no valid regular expression"],
])("the pattern %j is refused", async (pattern, reason) => {
  const result = await grep({ pattern });
  expect(result.isError).toBe(true);
  expect(result.text).toContain(reason);
});

describe("what is not searched", () => {
  test("files that .gitignore names, in a repository or not, also where a file pattern fits them", async () => {
    room.put("repo/.gitignore", "*.log\nout\n");
    room.put("repo/x.log", "needle\n");
    room.put("repo/out/y.ts", "needle\n");
    for (const glob of ["*.log", "out/*.ts", "**/*.{log,x}", "**/x.[l]og"]) {
      expect(await text({ pattern: "needle", glob })).toBe("no match");
    }
    execFileSync("git", ["init", "-q", room.workspace]);
    expect(await text({ pattern: "needle", glob: "*.log" })).toBe("no match");
    expect(await text({ pattern: "needle", path: "out" })).toBe("out/y.ts:1:needle");
    expect(await text({ pattern: "needle", path: "x.log" })).toBe("x.log:1:needle");
  });

  test("binary files, FIFOs and what links lead to; a loop of links ends", async () => {
    room.put("repo/early.bin", "needle\n\0needle\n");
    room.put("repo/late.bin", `needle\n${"x".repeat(200_000)}\n\0needle\n`);
    room.put("elsewhere/f", "needle outside\n");
    makeFifo(`${room.workspace}/pipe`);
    symlinkSync("../elsewhere", `${room.workspace}/out`);
    symlinkSync("../elsewhere/f", `${room.workspace}/out-file`);
    symlinkSync("..", `${room.workspace}/a/loop`);
    const found = await text({ pattern: "needle" });
    expect(found).not.toContain("outside");
    expect(found.split("\n").filter((line) => !line.includes("late.bin"))).toEqual([
      "a/c.ts:1:needle first",
      "a/c.ts:3:needle",
      "a/d.md:1:a needle: here",
      "b.ts:2:two needle",
      "[1 binary files were not shown]",
    ]);
    expect(await text({ pattern: "needle", path: "early.bin" })).toBe(
      "no match\n[1 binary files were not shown]",
    );
    expect((await grep({ pattern: "x", path: "pipe" })).text).toContain("is a named pipe (FIFO)");
  });

  test("version control's own data, but hidden files are", async () => {
    execFileSync("git", ["init", "-q", room.workspace]);
    room.put("repo/.git/info/x", "needle hidden\n");
    room.put("repo/.config/x", "needle hidden\n");
    expect(await text({ pattern: "needle hidden" })).toBe(".config/x:1:needle hidden");
  });
});

describe("bounds", () => {
  test("100 lines by default, `limit` otherwise, and the answer says that it stopped", async () => {
    room.put("repo/many.txt", "hit\n".repeat(5_000));
    const lines = (await text({ pattern: "hit" })).split("\n");
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toBe("[stopped early at 100 lines; there may be more]");
    expect((await text({ pattern: "hit", limit: 2 })).split("\n")).toHaveLength(3);
    expect(grepTool.input.safeParse({ pattern: "hit", limit: 1_001 }).success).toBe(false);
  });

  test("a result that just fits is not called stopped", async () => {
    room.put("repo/two.txt", "hit\nhit\n");
    expect(await text({ pattern: "hit", limit: 2 })).toBe("two.txt:1:hit\ntwo.txt:2:hit");
  });

  test("long lines are cut", async () => {
    room.put("repo/long.txt", `needle ${"€".repeat(100_000)}\n`);
    const found = await text({ pattern: "needle €" });
    expect(found.length).toBeLessThan(700);
    expect(found).toMatch(/^long\.txt:1:needle €.*omitted end of long line\]$/);
  });

  test("50 KB in all", async () => {
    room.put("repo/many.txt", `hit ${"x".repeat(480)}\n`.repeat(1_000));
    const found = await text({ pattern: "hit", limit: 1_000 });
    expect(found.length).toBeLessThan(52_000);
    expect(found).toContain("[stopped early at 50 KB; there may be more]");
  });

  test("one line of 200 MB is searched without being held here, if its file is named", async () => {
    const file = room.put("repo/line.txt", "");
    const handle = openSync(file, "w");
    const block = Buffer.alloc(10_000_000, "a");
    for (let index = 0; index < 20; index++) writeSync(handle, block);
    writeSync(handle, "needle\n");
    closeSync(handle);
    const before = process.memoryUsage().rss;
    const found = await text({ pattern: "needle", path: "line.txt" });
    expect(found).toMatch(/^line\.txt:1:a{100}/);
    expect(found.length).toBeLessThan(1_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
    expect(await text({ pattern: "aneedle" })).toBe("no match");
  });

  test("time, with what was found until then, and no process is left", async () => {
    const block = room.put(
      "repo/big",
      "needle line that is long enough to take some time\n".repeat(1_000_000),
    );
    room.put("repo/0.txt", "needle\n");
    // One file under many names: gigabytes to search that take no disk.
    for (let index = 0; index < 60; index++) linkSync(block, `${room.workspace}/big-${index}`);
    const slow = { ...room.context, maxSeconds: 0.5 };
    const { text: found, isError } = await callTool(
      grepTool,
      { pattern: "^needle$|\\b[\\w ]{1,40}\\b\\d" },
      slow,
    );
    expect(isError).toBe(false);
    expect(found).toMatch(/^0\.txt:1:needle\n.*stopped early after 0\.\d s; not everything was searched/s);
    expect(listMarkedProcesses(room.context.runMarker)).toEqual([]);
  });

  test("a stop, and no process is left", async () => {
    const controller = new AbortController();
    const context = { ...room.context, allowedOutside: ["/"] };
    const searching = callTool(
      grepTool,
      { pattern: "no such text (a|b){50}", path: "/" },
      context,
      controller.signal,
    );
    while (listMarkedProcesses(room.context.runMarker).length === 0) await new Promise(setImmediate);
    controller.abort();
    expect(await searching).toEqual({ text: "stopped before it was done", isError: true });
    expect(listMarkedProcesses(room.context.runMarker)).toEqual([]);
  });
});

test("names with line feeds and colons are kept apart from the text", async () => {
  room.put("repo/odd/a\nb:9:c", "needle odd\n");
  expect(await text({ pattern: "needle odd" })).toBe("odd/a\\x0ab:9:c:1:needle odd");
});

test("bytes that are not UTF-8 are shown replaced", async () => {
  room.put("repo/latin.txt", Buffer.from("stra\xdfe\n", "latin1"));
  expect(await text({ pattern: "stra" })).toBe("latin.txt:1:stra\uFFFDe");
});

test("the tools' processes get the marker and no secret", async () => {
  process.env.SOME_PROVIDER_KEY = "secret";
  try {
    const controller = new AbortController();
    const outside = { ...room.context, allowedOutside: ["/"] };
    const searching = callTool(grepTool, { pattern: "zz{99}", path: "/" }, outside, controller.signal);
    let pids: number[] = [];
    while (pids.length === 0) {
      await new Promise(setImmediate);
      pids = listMarkedProcesses(room.context.runMarker);
    }
    const environment = readFileSync(`/proc/${pids[0]}/environ`, "utf8");
    controller.abort();
    await searching;
    expect(environment.split("\0").map((entry) => entry.split("=")[0])).toEqual([
      "PATH",
      "SUBAGENTS_RUN",
      "",
    ]);
  } finally {
    delete process.env.SOME_PROVIDER_KEY;
  }
});

test("whatever is searched for in whatever content, the answer is well formed and bounded", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.string({ unit: "binary" }),
      async (bytes, pattern) => {
        room.put("repo/any", bytes);
        for (const wanted of [pattern, "."]) {
          const found = await text({ pattern: wanted, limit: 1_000 });
          expect(found.isWellFormed()).toBe(true);
          expect(found).not.toContain("\0");
          expect(found.length).toBeLessThanOrEqual(60_000);
        }
      },
    ),
    { numRuns: 40 },
  );
});
