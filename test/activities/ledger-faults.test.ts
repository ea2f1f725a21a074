// Real files; no server.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { editTool } from "../../activities/tools/edit.ts";
import { readTool } from "../../activities/tools/read.ts";
import { writeTool } from "../../activities/tools/write.ts";
import { callTool, makeToolRoom, type ToolRoom } from "../support/tool-room.ts";

const [A, B] = ["task-1 (fixer)", "task-2 (fixer)"] as const;

let room: ToolRoom;
beforeEach(() => {
  room = makeToolRoom();
  room.put("repo/f", Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join(""));
});
afterEach(() => room.remove());

const file = () => readFileSync(`${room.workspace}/f`, "utf8");
const read = (actor: string) => callTool(readTool, { path: "f" }, room.as(actor));
const write = (actor: string, content: string) => callTool(writeTool, { path: "f", content }, room.as(actor));

test("a file that could not be created leaves no trace in the ledger", async () => {
  let asked = 0;
  const assertOwner = async () => {
    asked += 1;
    if (asked > 1) throw new Error("attempt 2 has taken over");
  };
  await callTool(writeTool, { path: "new", content: "A's" }, { ...room.as(A), assertOwner });
  room.put("repo/new", "by an editor\n");
  expect((await callTool(writeTool, { path: "new", content: "B's" }, room.as(B))).isError).toBe(false);
});

describe("fencing", () => {
  test.each(["Write", "Edit"])("a run that has another owner by now writes nothing: %s", async (name) => {
    const context = {
      ...room.as(A),
      assertOwner: async () => {
        throw new Error("attempt 2 has taken over");
      },
    };
    const before = file();
    const result =
      name === "Write"
        ? await callTool(writeTool, { path: "f", content: "x" }, context)
        : await callTool(editTool, { path: "f", oldText: "line 2", newText: "x" }, context);
    expect(result).toEqual({ text: "the tool failed: attempt 2 has taken over", isError: true });
    expect(file()).toBe(before);
    expect(readdirSync(room.workspace)).toEqual(["f"]);
    // The change that did not happen is nobody's.
    expect((await write(B, "mine\n")).isError).toBe(false);
  });

  test("an owner that is replaced while the content is being written writes nothing either", async () => {
    let asked = 0;
    const context = {
      ...room.as(A),
      assertOwner: async () => {
        asked += 1;
        if (asked > 1) throw new Error("attempt 2 has taken over");
      },
    };
    const result = await callTool(writeTool, { path: "f", content: "x" }, context);
    expect(asked).toBe(2);
    expect(result.isError).toBe(true);
    expect(file()).toContain("line 1\n");
    expect(readdirSync(room.workspace)).toEqual(["f"]);
  });
});

test("a change by others while the new content is being written is not overwritten", async () => {
  let isFirst = true;
  const context = {
    ...room.as(A),
    assertOwner: async () => {
      if (!isFirst) return;
      isFirst = false;
      writeFileSync(`${room.workspace}/f`, "line 2 of an editor\n");
    },
  };
  await read(A);
  const result = await callTool(writeTool, { path: "f", content: "x" }, context);
  expect(result.text).toContain("changed since you read it, by someone outside the session");
  isFirst = true;
  const edited = await callTool(editTool, { path: "f", oldText: "line 2", newText: "x" }, context);
  expect(edited.isError).toBe(false);
  expect(file()).toBe("x of an editor\n");
});

test("a torn or foreign record counts as none", async () => {
  await write(A, "one\n");
  for (const folder of ["seen", "written"]) {
    for (const name of readdirSync(`${room.context.ledger}/${folder}`)) {
      writeFileSync(`${room.context.ledger}/${folder}/${name}`, '{"path": "');
    }
  }
  expect((await write(B, "two\n")).isError).toBe(false);
});

test("a ledger that can't be written stops the change, not the file's content", async () => {
  await write(A, "one\n");
  rmSync(`${room.context.ledger}/written`, { recursive: true });
  writeFileSync(`${room.context.ledger}/written`, "");
  const result = await write(A, "two\n");
  expect(result.isError).toBe(true);
  expect(file()).toBe("one\n");
  expect(readdirSync(room.workspace)).toEqual(["f"]);
});
