// Real files; no server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { writeTool } from "../../activities/tools/write.ts";
import { callTool, makeFifo, makeToolRoom, type ToolRoom } from "../support/tool-room.ts";

const LIMITED = fileURLToPath(new URL("../support/limited-writer.ts", import.meta.url));

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeToolRoom();
});
afterEach(() => room.remove());

const write = (path: string, content: string) => callTool(writeTool, { path, content }, room.context);

test("creates a file and the folders that it needs", async () => {
  expect(await write("a/b/c.txt", "hello\n")).toEqual({ text: "created a/b/c.txt, 6 bytes", isError: false });
  expect(readFileSync(`${room.workspace}/a/b/c.txt`, "utf8")).toBe("hello\n");
  expect(statSync(`${room.workspace}/a/b/c.txt`).mode & 0o777).toBe(0o666 & ~process.umask());
});

test("replaces everything, byte for byte", async () => {
  room.put("repo/f", "old and much longer\n");
  const content = "\uFEFFü€😀\r\n\tlast line without end";
  expect((await write("f", content)).text).toBe(`replaced f, ${Buffer.byteLength(content)} bytes`);
  expect(readFileSync(`${room.workspace}/f`, "utf8")).toBe(content);
});

test.each([0o755, 0o600, 0o4711, 0o640])("keeps mode %o of an existing file", async (mode) => {
  const file = room.put("repo/f", "old");
  chmodSync(file, mode);
  await write("f", "new");
  expect(statSync(file).mode & 0o7777).toBe(mode);
});

test("readers see the old content or the new, never a part", async () => {
  const file = room.put("repo/f", "a".repeat(1_000_000));
  const contents = new Set<string>();
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      const text = readFileSync(file, "utf8");
      contents.add(`${text.length}${text[0]}${text.at(-1)}`);
      await new Promise(setImmediate);
    }
  })();
  for (const letter of ["b", "c", "d", "e"]) await write("f", letter.repeat(1_000_000));
  isDone = true;
  await watching;
  for (const seen of contents) expect(seen).toMatch(/^1000000(aa|bb|cc|dd|ee)$/);
});

describe("refuses, and nothing is left over", () => {
  test("a directory, a FIFO and a device", async () => {
    room.put("repo/folder/x", "");
    makeFifo(`${room.workspace}/pipe`);
    symlinkSync("pipe", `${room.workspace}/link`);
    expect((await write("folder", "x")).text).toContain("is a directory");
    expect((await write("folder/", "x")).text).toContain("names a directory");
    expect((await write("new/", "x")).text).toContain("names a directory");
    for (const path of ["pipe", "link"]) {
      expect((await write(path, "x")).text).toContain("is a named pipe (FIFO)");
    }
    const device = { ...room.context, allowedOutside: ["/dev/null"] };
    const result = await callTool(writeTool, { path: "/dev/null", content: "x" }, device);
    expect(result.text).toContain("is a character device");
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  test("a path through a file", async () => {
    room.put("repo/f", "file");
    expect(await write("f/x", "y")).toEqual({
      text: `failed, ENOTDIR: a part of the path is a file, not a directory (${room.workspace}/f/x)`,
      isError: true,
    });
    expect(readFileSync(`${room.workspace}/f`, "utf8")).toBe("file");
  });

  test("a read-only file", async () => {
    const file = room.put("repo/f", "kept");
    chmodSync(file, 0o444);
    expect((await write("f", "x")).text).toContain("is read-only (mode 444)");
    expect(readFileSync(file, "utf8")).toBe("kept");
  });

  test("half a surrogate pair and content above 10 MB", async () => {
    expect((await write("f", "a\ud800b")).text).toContain("half a surrogate pair");
    expect((await write("f", "€".repeat(4_000_000))).text).toContain("at most 10.0 MB");
    expect(existsSync(`${room.workspace}/f`)).toBe(false);
  });

  test("a disk that takes no more: the old file is whole and the unfinished one gone", async () => {
    const file = room.put("repo/f", "old content\n");
    // The process may write no file above 64 KiB, which fails in the middle of the content as a full disk does.
    const child = spawn("bash", ["-c", `ulimit -f 64; exec ${process.execPath} ${LIMITED} ${room.root}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(child, "close");
    expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual({
      text: "failed, EFBIG: the file would be larger than the system allows",
      isError: true,
    });
    expect(readFileSync(file, "utf8")).toBe("old content\n");
    expect(readdirSync(room.workspace)).toEqual(["f"]);
    expect((await write("f", "new\n")).isError).toBe(false);
  });
});
