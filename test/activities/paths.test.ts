// Real files and links; no server.

import { linkSync, readFileSync, rmSync } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { z } from "zod";
import { toPermissionTarget } from "../../activities/paths/permission-target.ts";
import { editTool } from "../../activities/tools/edit.ts";
import { globTool } from "../../activities/tools/glob.ts";
import { grepTool } from "../../activities/tools/grep.ts";
import { readTool } from "../../activities/tools/read.ts";
import type { ToolContext, ToolResult } from "../../activities/tools/tool.ts";
import { writeTool } from "../../activities/tools/write.ts";
import { makeEscapeRoom, SECRET } from "../support/escape-room.ts";
import { callTool, type ToolRoom } from "../support/tool-room.ts";

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeEscapeRoom();
});
afterEach(() => room.remove());

/** All five tools, each as it would be called for one path. */
const calls: Array<[tool: string, call: (path: string, context: ToolContext) => Promise<ToolResult>]> = [
  ["Read", (path, context) => callTool(readTool, { path }, context)],
  ["Write", (path, context) => callTool(writeTool, { path, content: "taken over" }, context)],
  [
    "Edit",
    (path, context) => callTool(editTool, { path, oldText: "e", newText: "E", replaceAll: true }, context),
  ],
  ["Grep", (path, context) => callTool(grepTool, { path, pattern: "." }, context)],
  ["Glob", (path, context) => callTool(globTool, { path, pattern: "**/*" }, context)],
];

/** Spelled path, and where it leads, seen from the room's root. */
const escapes: Array<[spelled: string, target: string]> = [
  ["..", ""],
  ["../", ""],
  ["../secret.txt", "secret.txt"],
  ["../repo-evil/f", "repo-evil/f"],
  ["../repo-evil", "repo-evil"],
  ["{root}/repo-evil/f", "repo-evil/f"],
  ["{root}/repo/../secret.txt", "secret.txt"],
  ["{root}/secret.txt", "secret.txt"],
  ["{root}//repo//..//secret.txt", "secret.txt"],
  ["./../secret.txt", "secret.txt"],
  ["a/./../../secret.txt", "secret.txt"],
  ["a/../../secret.txt", "secret.txt"],
  ["missing/../../secret.txt", "secret.txt"],
  ["a/b/c/../../../../secret.txt", "secret.txt"],
  ["out-folder", "elsewhere"],
  ["out-folder/", "elsewhere"],
  ["out-folder/f", "elsewhere/f"],
  ["out-folder/new.txt", "elsewhere/new.txt"],
  ["out-folder/new/deep.txt", "elsewhere/new/deep.txt"],
  ["out-folder/../secret.txt", "secret.txt"],
  ["out-absolute/f", "elsewhere/f"],
  ["out-file", "secret.txt"],
  ["./out-file", "secret.txt"],
  ["out-dangling", "not-there.txt"],
  ["out-dangling-deep", "nowhere/deep/x"],
  ["chain-1", "elsewhere"],
  ["chain-1/f", "elsewhere/f"],
  ["chain-2/f", "elsewhere/f"],
  ["a/chain-3/f", "elsewhere/f"],
  ["up", ""],
  ["up/secret.txt", "secret.txt"],
  ["up/up-is-gone/../secret.txt", "secret.txt"],
  ["up/repo/up/secret.txt", "secret.txt"],
  ["up/repo-evil/f", "repo-evil/f"],
  ["twin/f", "repo-evil/f"],
  ["a/to-top/up/secret.txt", "secret.txt"],
  ["a/to-top/../secret.txt", "secret.txt"],
  ["in-folder/../../secret.txt", "secret.txt"],
  ["in-scratch/../secret.txt", "secret.txt"],
  ["{root}/scratch/../secret.txt", "secret.txt"],
  ["{root}/scratch-evil/f", "scratch-evil/f"],
  ["{root}/ledger", "ledger"],
  ["out-root{root}/secret.txt", "secret.txt"],
  ["../REPO/plain.txt", "REPO/plain.txt"],
  ["../repo./plain.txt", "repo./plain.txt"],
  ["../repo /plain.txt", "repo /plain.txt"],
];

function tree(folder: string): string {
  // Names, targets and contents of everything outside of the workspace.
  const found = readFileSync(`${folder}/secret.txt`, "utf8") + readFileSync(`${folder}/elsewhere/f`, "utf8");
  return found + readFileSync(`${folder}/repo-evil/f`, "utf8");
}

describe.each(calls)("%s", (_name, call) => {
  test.each(escapes)("does not get out by %j", async (spelled, target) => {
    const before = tree(room.root);
    const result = await call(spelled.replaceAll("{root}", room.root), room.context);
    expect(result.isError).toBe(true);
    expect(result.text).toContain(
      `leads to ${room.root}${target && `/${target}`}, which is outside the workspace`,
    );
    expect(result.text).not.toContain(SECRET);
    expect(tree(room.root)).toBe(before);
    for (const created of ["not-there.txt", "nowhere", "elsewhere/new.txt", "elsewhere/new", "REPO"]) {
      await expect(lstat(`${room.root}/${created}`)).rejects.toThrow("ENOENT");
    }
  });

  test.each([
    ["a NUL", "plain.txt\0.png", "NUL character"],
    ["5,000 characters", "x/".repeat(2_500), "the path has 5000 bytes, at most 4095 are possible"],
    ["a part of 300 characters", "x".repeat(300), "longer than 255 bytes"],
    ["half a surrogate pair", "a\ud800", "not well-formed text"],
    ["a link to itself", "loop", "more than 40 links"],
  ])("refuses %s and says why", async (_what, spelled, reason) => {
    const result = await call(spelled, room.context);
    expect(result.isError).toBe(true);
    expect(result.text).toContain(reason);
    expect(result.text).not.toContain("\0");
  });

  test("an outside path works when just that resolved path was allowed", async () => {
    const target = await toPermissionTarget("Read", { path: "out-file" }, room);
    expect(target).toEqual({ target: `${room.root}/secret.txt`, inside: false });
    const allowed = { ...room.context, allowedOutside: [target.target] };
    const result = await call("out-file", allowed);
    // Glob has no use for a file; what counts is that it is not kept out.
    expect(result.text).not.toContain("was not allowed");
    expect((await call("../elsewhere/f", allowed)).text).toContain("was not allowed");
  });
});

describe("names that other programs would expand", () => {
  test.each([
    ["~/f", "`~` is not expanded"],
    ["~root/f", "`~` is not expanded"],
    ["$HOME/f", "`$NAME` is not expanded"],
    ["$" + "{HOME}/f", "`$NAME` is not expanded"],
    ["%2e%2e/secret.txt", "are not decoded"],
    ["..%2fsecret.txt", "are not decoded"],
  ])("%s is a name below the workspace, and the answer says so", async (spelled, note) => {
    for (const [, call] of calls) {
      const { text } = await call(spelled, room.context);
      expect(text).toContain(note);
      expect(text).not.toContain(SECRET);
      rmSync(`${room.workspace}/${spelled.split("/")[0]}`, { recursive: true, force: true });
    }
    await callTool(writeTool, { path: spelled, content: "x" }, room.context);
    expect(readFileSync(`${room.workspace}/${spelled}`, "utf8")).toBe("x");
  });

  test.each(["plain.txt.", "plain.txt ", " plain.txt"])("%j is another file than plain.txt", async (path) => {
    expect((await callTool(readTool, { path }, room.context)).text).toContain("does not exist");
    await callTool(writeTool, { path, content: "other" }, room.context);
    expect(readFileSync(`${room.workspace}/plain.txt`, "utf8")).toBe("within\n");
  });
});

describe("links within", () => {
  test.each([
    ["in-folder/deep.txt", "a/deep.txt"],
    ["in-absolute/deep.txt", "a/deep.txt"],
    ["in-file", "plain.txt"],
    ["a/to-top/plain.txt", "plain.txt"],
    ["up/repo/plain.txt", "plain.txt"],
    ["out-folder/../repo/plain.txt", "plain.txt"],
    ["hard.txt", "hard.txt"],
    ["in-scratch/note.txt", "../scratch/note.txt"],
    ["{root}/scratch/note.txt", "../scratch/note.txt"],
    ["{root}/repo/plain.txt", "plain.txt"],
    ["{root}/repo/./a//deep.txt", "a/deep.txt"],
    ["REPO/f", "REPO/f"],
  ])("%s works in all tools", async (spelled, target) => {
    const path = spelled.replace("{root}", room.root);
    expect((await callTool(readTool, { path }, room.context)).text).toContain("1\twithin");
    expect((await callTool(grepTool, { path, pattern: "within" }, room.context)).text).toContain(":1:within");
    const edited = await callTool(editTool, { path, oldText: "within", newText: "edited" }, room.context);
    expect(edited.isError).toBe(false);
    const written = await callTool(writeTool, { path, content: "written\n" }, room.context);
    expect(written.isError).toBe(false);
    expect(readFileSync(`${room.workspace}/${target}`, "utf8")).toBe("written\n");
  });

  test("Glob starts in a folder behind a link", async () => {
    const { text } = await callTool(globTool, { path: "in-folder", pattern: "*" }, room.context);
    expect(text).toBe("a/deep.txt");
  });

  test("writing through a link changes what it leads to, and the link stays", async () => {
    await callTool(writeTool, { path: "in-dangling", content: "new\n" }, room.context);
    expect(await readlink(`${room.workspace}/in-dangling`)).toBe("a/new.txt");
    expect(readFileSync(`${room.workspace}/a/new.txt`, "utf8")).toBe("new\n");
  });

  test("changing a hard link leaves its other name with the old content", async () => {
    linkSync(`${room.root}/secret.txt`, `${room.workspace}/shared.txt`);
    await callTool(writeTool, { path: "shared.txt", content: "new\n" }, room.context);
    expect(readFileSync(`${room.root}/secret.txt`, "utf8")).toBe(`${SECRET}\n`);
  });
});

describe("Glob patterns", () => {
  test.each([
    ["../**", ""],
    ["../*", ""],
    ["{root}/**", ""],
    ["{root}/repo-evil/*", "repo-evil"],
    ["out-folder/*", "elsewhere"],
    ["a/../../elsewhere/*", "elsewhere"],
  ])("%s is taken for the folder that it starts in", async (spelled, target) => {
    const pattern = spelled.replace("{root}", room.root);
    const asked = await toPermissionTarget("Glob", { pattern }, room);
    expect(asked).toEqual({ target: `${room.root}${target && `/${target}`}`, inside: false });
    const result = await callTool(globTool, { pattern }, room.context);
    expect(result.isError).toBe(true);
    expect(result.text).toContain(`leads to ${asked.target}, which is outside`);
    const allowed = await callTool(
      globTool,
      { pattern },
      { ...room.context, allowedOutside: [asked.target] },
    );
    expect(allowed.isError).toBe(false);
  });

  test.each(["*/../../*", "**/..", "{..,a}/../../*", "{../,}*", "*/..{,/}x/.."])(
    "%s is refused",
    async (pattern) => {
      const result = await callTool(globTool, { pattern }, room.context);
      expect(result.isError).toBe(true);
      expect(result.text).not.toContain("secret");
    },
  );

  test("wildcards do not follow links out", async () => {
    for (const pattern of ["out*/*", "**/f", "*/*", "**/*"]) {
      const { text } = await callTool(globTool, { pattern }, room.context);
      expect(text).not.toMatch(/elsewhere|evil|out-/);
    }
  });
});

test.each([readTool, writeTool, editTool, grepTool, globTool])(
  "$name describes itself and its input to a model as JSON schema",
  ({ input, description }) => {
    const schema = z.toJSONSchema(input);
    expect(schema.type).toBe("object");
    expect(Object.values(schema.properties ?? {}).length).toBeGreaterThan(1);
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(description.length).toBeLessThan(1_000);
  },
);

describe("toPermissionTarget", () => {
  test.each([
    ["Read", { path: "a/../plain.txt" }, "{root}/repo/plain.txt", true],
    ["Write", { path: "new/x" }, "{root}/repo/new/x", true],
    ["Edit", { path: "out-dangling" }, "{root}/not-there.txt", false],
    ["Grep", { pattern: "x" }, "{root}/repo", true],
    ["Grep", { pattern: "x", path: "up" }, "{root}", false],
    ["Glob", { pattern: "**/*.ts" }, "{root}/repo", true],
    ["Glob", { pattern: "x/*.ts", path: "a" }, "{root}/repo/a/x", true],
    ["Glob", { pattern: "*", path: "../scratch" }, "{root}/scratch", true],
    ["Read", { path: "loop" }, "loop", true],
    ["Read", {}, "", true],
    ["Bash", { command: "ls /" }, "ls /", undefined],
  ] as const)("%s %j", async (tool, input, target, inside) => {
    expect(await toPermissionTarget(tool, input, room)).toEqual({
      target: target.replace("{root}", room.root),
      inside,
    });
  });

  test("agrees with what the tools do, for any path", async () => {
    const parts = ["..", ".", "a", "up", "chain-1", "in-folder", "out-file", "to-top", "repo", "~", "f", ""];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 7 }),
        fc.boolean(),
        async (names, isAbsolute) => {
          const path = `${isAbsolute ? `${room.workspace}/` : ""}${names.join("/")}` || ".";
          const { target, inside } = await toPermissionTarget("Read", { path }, room);
          const { text } = await callTool(readTool, { path }, room.context);
          expect(text.includes("was not allowed")).toBe(inside === false);
          if (inside) expect(text).not.toContain(SECRET);
          else expect(text).toContain(`leads to ${target},`);
        },
      ),
      { numRuns: 200 },
    );
  });
});
