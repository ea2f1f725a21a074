// Real files; no server.

import { chmodSync, readFileSync, statSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { editTool } from "../../activities/tools/edit.ts";
import { findText, replaceText } from "../../activities/tools/replace-text.ts";
import { callTool, makeFifo, makeToolRoom, type ToolRoom } from "../support/tool-room.ts";

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeToolRoom();
});
afterEach(() => room.remove());

const edit = (input: object) => callTool(editTool, { path: "f", ...input }, room.context);
const file = () => readFileSync(`${room.workspace}/f`, "utf8");

test("replaces the one place and names its line", async () => {
  room.put("repo/f", "one\ntwo\nthree\n");
  expect(await edit({ oldText: "two\n", newText: "2\n" })).toEqual({
    text: "edited f: 1 replacement, line 2",
    isError: false,
  });
  expect(file()).toBe("one\n2\nthree\n");
});

test("text that looks like a replacement pattern is taken as it is", async () => {
  room.put("repo/f", "price: (x)\n");
  await edit({ oldText: "(x)", newText: "$& $1 $$ \\n" });
  expect(file()).toBe("price: $& $1 $$ \\n\n");
});

test("replaceAll replaces every place and counts", async () => {
  room.put("repo/f", "a b a\nb a\n");
  expect((await edit({ oldText: "a", newText: "aa", replaceAll: true })).text).toBe(
    "edited f: 3 replacements, the first in line 1",
  );
  expect(file()).toBe("aa b aa\nb aa\n");
});

describe("line ends and marks", () => {
  test("LF in the call matches CR LF in the file, which stays so", async () => {
    room.put("repo/f", "\uFEFFone\r\ntwo\r\nthree\r\n");
    await edit({ oldText: "one\ntwo\n", newText: "1\n2\n2b\n" });
    expect(file()).toBe("\uFEFF1\r\n2\r\n2b\r\nthree\r\n");
  });

  test("new lines in a one-line replacement get the file's line ends", async () => {
    room.put("repo/f", "one\r\ntwo\r\n");
    await edit({ oldText: "two", newText: "two\nthree" });
    expect(file()).toBe("one\r\ntwo\r\nthree\r\n");
  });

  test("in a file with both kinds each place keeps its own, and the rest is untouched", async () => {
    room.put("repo/f", "a\r\nb\r\nc\nd\ne\r\n");
    await edit({ oldText: "c\nd", newText: "c\nx\nd" });
    expect(file()).toBe("a\r\nb\r\nc\nx\nd\ne\r\n");
    await edit({ oldText: "a\nb\n", newText: "a\ny\nb\n" });
    expect(file()).toBe("a\r\ny\r\nb\r\nc\nx\nd\ne\r\n");
  });

  test("CR LF in the call matches LF in the file", async () => {
    room.put("repo/f", "one\ntwo\n");
    await edit({ oldText: "one\r\ntwo", newText: "1\r\n2" });
    expect(file()).toBe("1\n2\n");
  });

  test("the mode stays", async () => {
    chmodSync(room.put("repo/f", "one\n"), 0o751);
    await edit({ oldText: "one", newText: "two" });
    expect(statSync(`${room.workspace}/f`).mode & 0o777).toBe(0o751);
  });

  test("whatever the line ends, a replacement changes its own place alone", () => {
    const lines = fc.array(
      fc.tuple(fc.constantFrom("a", "bb", "", "\r", "x"), fc.constantFrom("\n", "\r\n")),
    );
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const join = (parts: typeof before) => parts.map(([text, end]) => text + end).join("");
        const content = `${join(before)}MARK one\r\nMARK two${join(after)}`;
        const matches = findText(content, "MARK one\nMARK two");
        expect(matches).toHaveLength(1);
        const edited = replaceText(content, { oldText: "", newText: "new\ntext", matches });
        expect(edited).toBe(`${join(before)}new\r\ntext${join(after)}`);
      }),
    );
  });
});

describe("refuses, and nothing is written", () => {
  test("an empty oldText and one that changes nothing", async () => {
    room.put("repo/f", "one\r\n");
    expect((await edit({ oldText: "", newText: "x" })).text).toContain("oldText is empty");
    expect((await edit({ oldText: "one", newText: "one" })).text).toContain("are the same");
    expect((await edit({ oldText: "one\r\n", newText: "one\n" })).text).toContain("already reads so");
    expect(file()).toBe("one\r\n");
  });

  test("a text that occurs more than once, with the lines", async () => {
    room.put("repo/f", "x\ny\nx\nx\n");
    expect((await edit({ oldText: "x\n", newText: "z\n" })).text).toContain(
      `occurs 3 times in ${room.workspace}/f (lines 1, 3, 4); nothing was written: give more lines`,
    );
    expect(file()).toBe("x\ny\nx\nx\n");
  });

  test.each([
    ["  const b = 3;", 'line 2 differs only in white space: "\\tconst b = 3;"'],
    ["\tconst b = 4;", 'the nearest line is 2: "\\tconst b = 3;"'],
    ["const a = 1;\nnothing", "its first line is there, as line 1, but what follows differs"],
  ])("a text that is not there, with a hint: %j", async (oldText, hint) => {
    room.put("repo/f", "const a = 1;\n\tconst b = 3;\nend\n");
    const result = await edit({ oldText, newText: "x" });
    expect(result.isError).toBe(true);
    expect(result.text).toBe(`oldText is not in ${room.workspace}/f; nothing was written; ${hint}`);
  });

  test("a file that is not UTF-8, rather than damaging it", async () => {
    const bytes = Buffer.from("caf\xe9 one\n", "latin1");
    room.put("repo/f", bytes);
    expect((await edit({ oldText: "one", newText: "two" })).text).toContain("not UTF-8 throughout");
    expect(readFileSync(`${room.workspace}/f`)).toEqual(bytes);
  });

  test("a missing file, a directory, a FIFO and one above 10 MB", async () => {
    room.put("repo/folder/x", "");
    makeFifo(`${room.workspace}/pipe`);
    room.put("repo/large", "x".repeat(10 * 1024 ** 2 + 1));
    room.put("repo/larger", "x".repeat(17 * 1024 ** 2));
    const of = async (path: string) => (await edit({ path, oldText: "x", newText: "y" })).text;
    expect(await of("folder/y")).toContain("folder/y does not exist; near it");
    expect(await of("folder")).toContain("is a directory");
    expect(await of("pipe")).toContain("is a named pipe (FIFO)");
    expect(await of("large")).toContain("Edit takes files up to 10.0 MB");
    expect(await of("larger")).toContain("Edit takes files up to 10.0 MB");
  });

  test("a result above 10 MB", async () => {
    room.put("repo/f", "x".repeat(20_000));
    const result = await edit({ oldText: "x", newText: "y".repeat(1_000), replaceAll: true });
    expect(result.text).toContain("the result would be above 10.0 MB");
  });
});

test("whatever text and call, the answer is well formed and bounded, and UTF-8 stays UTF-8", async () => {
  const text = fc.string({ unit: "binary", maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(text, text, text, fc.boolean(), async (content, oldText, newText, replaceAll) => {
      room.put("repo/f", content);
      const result = await edit({ oldText, newText, replaceAll });
      expect(result.text.isWellFormed()).toBe(true);
      expect(result.text.length).toBeLessThan(3_000);
      expect(file().isWellFormed()).toBe(true);
      if (result.isError) expect(file()).toBe(content.toWellFormed());
    }),
    { numRuns: 100 },
  );
});
