// Real files; no server.

import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, symlinkSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { LinePage } from "../../activities/tools/line-page.ts";
import { readTool } from "../../activities/tools/read.ts";
import { callTool, makeFifo, makeToolRoom, type ToolRoom } from "../support/tool-room.ts";

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeToolRoom();
});
afterEach(() => room.remove());

const read = (input: object, signal?: AbortSignal) => callTool(readTool, input, room.context, signal);

describe("pages", () => {
  test("a short file comes whole, with line numbers and its end named", async () => {
    room.put("repo/a.txt", "one\ntwo\n");
    expect(await read({ path: "a.txt" })).toEqual({
      text: "1\tone\n2\ttwo\n[lines 1-2, end of file]",
      isError: false,
    });
  });

  test("a missing last line feed is said", async () => {
    room.put("repo/a.txt", "one\ntwo");
    expect((await read({ path: "a.txt" })).text).toBe(
      "1\tone\n2\ttwo\n[lines 1-2, end of file, no line feed at the end]",
    );
  });

  test("an empty file is said to be empty", async () => {
    room.put("repo/a.txt", "");
    expect(await read({ path: "a.txt" })).toEqual({ text: "[the file is empty]", isError: false });
  });

  test("the first 2,000 lines are the default, and the way on is named", async () => {
    room.put("repo/a.txt", Array.from({ length: 5_000 }, (_, index) => `l${index + 1}\n`).join(""));
    const { text } = await read({ path: "a.txt" });
    expect(text.split("\n")).toHaveLength(2_001);
    expect(text).toContain("[lines 1-2000 of 5000; go on with offset 2001]");
    const next = await read({ path: "a.txt", offset: 2_001, limit: 2 });
    expect(next.text).toBe("2001\tl2001\n2002\tl2002\n[lines 2001-2002 of 5000; go on with offset 2003]");
  });

  test("an offset beyond the end says how many lines there are", async () => {
    room.put("repo/a.txt", "one\n");
    expect((await read({ path: "a.txt", offset: 7 })).text).toBe("[nothing to show: the file has 1 lines]");
  });

  test("a page ends before the line that would not fit into 50 KB, and paging loses nothing", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `${index}:${"x".repeat(1_000)}`);
    room.put("repo/a.txt", lines.join("\n"));
    const seen: string[] = [];
    for (let offset = 1; ; ) {
      const { text } = await read({ path: "a.txt", offset });
      expect(Buffer.byteLength(text)).toBeLessThan(51_400);
      const page = text.split("\n");
      const place = page.pop() ?? "";
      seen.push(...page.map((line) => line.slice(line.indexOf("\t") + 1)));
      const next = /go on with offset (\d+)/.exec(place);
      if (!next) break;
      offset = Number(next[1]);
    }
    expect(seen).toEqual(lines);
  });

  test("a file of one gigabyte is read at an offset without being held in memory", async () => {
    const file = room.put("repo/big.txt", "");
    const handle = openSync(file, "w");
    const block = Buffer.from("0123456789abcde\n".repeat(65_536));
    for (let index = 0; index < 16; index++) writeSync(handle, block);
    // The rest is a hole that takes no disk: one line of NULs.
    ftruncateSync(handle, 1024 ** 3);
    closeSync(handle);
    const before = process.memoryUsage().rss;
    const { text } = await read({ path: "big.txt", offset: 1_000_000, limit: 1 });
    expect(text).toBe(
      `1000000\t0123456789abcde\n[lines 1000000-1000000 of a file of ${1024 ** 3} bytes; go on with offset 1000001]`,
    );
    const far = await read({ path: "big.txt", offset: 2_000_000 });
    expect(far.text).toBe("[nothing to show: the file has 1048577 lines]");
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2);
  });

  test("one line of 200 MB is cut and its true size is told", async () => {
    const file = room.put("repo/line.txt", "");
    execFileSync("sh", ["-c", `head -c 200000000 /dev/zero | tr '\\0' 'a' > ${file}; echo >> ${file}`]);
    const { text, isError } = await read({ path: "line.txt" });
    expect(isError).toBe(false);
    expect(text.length).toBeLessThan(52_000);
    expect(text).toMatch(/line 1 has 200000000 bytes, of which the first \d+ are shown/);
  });

  test("lines of 50 KB are not held all at once", async () => {
    const page = new LinePage({ offset: 1, limit: 10_000, maxBytes: 51_200 });
    const line = Buffer.from(`${"x".repeat(50_000)}\n`);
    for (let index = 0; index < 1_000; index++) page.push(line);
    page.end();
    expect(page.lines.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(51_200);
    expect(page.lineCount).toBe(1_000);
  });

  test("a stop ends the call at once", async () => {
    const file = room.put("repo/big.txt", "");
    const handle = openSync(file, "w");
    ftruncateSync(handle, 64 * 1024 ** 3);
    writeSync(handle, "text\n", 0);
    closeSync(handle);
    const controller = new AbortController();
    const reading = read({ path: "big.txt", offset: 10 }, controller.signal);
    controller.abort();
    expect(await reading).toEqual({ text: "stopped before it was done", isError: true });
  });
});

describe("encodings", () => {
  test.each([1_000, 4_096, 8_192, 1024 ** 2])("a character across byte %i stays whole", async (border) => {
    room.put("repo/a.txt", `${"a\n".repeat(Math.floor((border - 1) / 2)).padEnd(border - 1, "b")}€ end\n`);
    const lines = Math.floor((border - 1) / 2);
    const { text } = await read({ path: "a.txt", offset: lines + 1 });
    expect(text).toContain("€ end");
    expect(text).not.toContain("\uFFFD");
    expect(text).not.toContain("not UTF-8");
  });

  test("a Latin-1 file is readable, and what was replaced is counted", async () => {
    room.put("repo/a.txt", Buffer.from("Stra\xdfe\nf\xfcr \uFFFD\n".replace("\uFFFD", ""), "latin1"));
    expect((await read({ path: "a.txt" })).text).toBe(
      "1\tStra\uFFFDe\n2\tf\uFFFDr \n[lines 1-2, end of file; 2 bytes are not UTF-8 and are shown as \uFFFD]",
    );
  });

  test("a replacement character that the file itself has is not counted", async () => {
    room.put("repo/a.txt", Buffer.concat([Buffer.from("\uFFFD\uFFFD "), Buffer.from([0xe2, 0x82])]));
    expect((await read({ path: "a.txt" })).text).toContain("2 bytes are not UTF-8");
  });

  test("a NUL behind the sample is shown, never sent on", async () => {
    room.put("repo/a.txt", `${"text\n".repeat(3_000)}a\0b\n`);
    const { text } = await read({ path: "a.txt", offset: 3_001 });
    expect(text).toBe("3001\ta␀b\n[lines 3001-3001, end of file; NUL characters are shown as ␀]");
  });

  test("a byte order mark and CR LF are named and not shown", async () => {
    room.put("repo/a.txt", "\uFEFFone\r\ntwo\r\n");
    expect((await read({ path: "a.txt" })).text).toBe(
      "1\tone\n2\ttwo\n[lines 1-2, end of file; lines end in CR LF; the file starts with a byte order mark (3 bytes)]",
    );
  });

  test.each([
    ["UTF-16 text (little-endian byte order mark), 2 bytes", [0xff, 0xfe]],
    ["UTF-16 text (big-endian byte order mark), 4 bytes", [0xfe, 0xff, 0, 0x41]],
    ["PNG image, 8 bytes", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
    ["zip archive, 6 bytes", [0x50, 0x4b, 3, 4, 1, 1]],
    ["gzip data, 4 bytes", [0x1f, 0x8b, 8, 8]],
    ["binary data, 6 bytes", [0x61, 0, 0x61, 0x61, 0x61, 0x61]],
  ])("%s is named instead of shown", async (kind, bytes) => {
    room.put("repo/a.bin", Uint8Array.from(bytes));
    const result = await read({ path: "a.bin" });
    expect(result.isError).toBe(true);
    expect(result.text).toContain(`not UTF-8 text: ${kind}`);
  });

  test("one NUL at 5 kB names a file binary, with its size", async () => {
    room.put("repo/a.bin", `${"x".repeat(5_000)}\0${"x".repeat(5_000)}`);
    expect((await read({ path: "a.bin" })).text).toContain("binary data, 9.8 KB (10001 bytes)");
  });
});

describe("what is no file", () => {
  test("a FIFO is named at once, behind a link too, and nobody waits", async () => {
    makeFifo(`${room.workspace}/pipe`);
    symlinkSync("pipe", `${room.workspace}/link`);
    for (const path of ["pipe", "link"]) {
      const result = await read({ path });
      expect(result).toEqual({
        text: `${room.workspace}/pipe is a named pipe (FIFO), not a regular file`,
        isError: true,
      });
    }
  });

  test("a socket, a device and a directory are named", async () => {
    const server = createServer().listen(`${room.workspace}/socket`);
    await new Promise((resolve) => server.once("listening", resolve));
    const outside = { ...room.context, allowedOutside: ["/dev/zero"] };
    try {
      expect((await read({ path: "socket" })).text).toContain("is a socket");
      expect((await read({ path: "." })).text).toContain("is a directory");
      expect((await callTool(readTool, { path: "/dev/zero" }, outside)).text).toContain(
        "is a character device",
      );
    } finally {
      server.close();
    }
  });

  test("files of /proc, which claim to be empty, are read and end", async () => {
    const outside = { ...room.context, allowedOutside: ["/proc/meminfo", "/proc/kmsg"] };
    const memory = await callTool(readTool, { path: "/proc/meminfo" }, outside);
    expect(memory.text).toContain("MemTotal");
    const kernel = await callTool(readTool, { path: "/proc/kmsg" }, outside);
    expect(kernel.text.length).toBeLessThan(60_001);
  });

  test("a missing file is answered with the names that come close", async () => {
    room.put("repo/src/index.ts", "");
    room.put("repo/src/Index.test.ts", "");
    room.put("repo/src/other.md", "");
    expect((await read({ path: "src/indx.ts" })).text).toBe(
      `${room.workspace}/src/indx.ts does not exist; near it in ${room.workspace}/src: index.ts`,
    );
    expect((await read({ path: "scr/index.ts" })).text).toBe(
      `${room.workspace}/scr does not exist; near it in ${room.workspace}: src`,
    );
  });
});

test("whatever a file holds, the answer is well formed, free of NUL and bounded", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 4_000 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 10_000 }),
      async (bytes, times, offset, limit) => {
        room.put("repo/any", Buffer.concat(Array.from({ length: times }, () => bytes)));
        const { text } = await read({ path: "any", offset, limit });
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain("\0");
        expect(text.length).toBeLessThanOrEqual(60_000);
      },
    ),
    { numRuns: 150 },
  );
});
