// Real files, real threads and processes; no server.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { withFileLock } from "../../activities/files/file-lock.ts";
import { editTool } from "../../activities/tools/edit.ts";
import { readTool } from "../../activities/tools/read.ts";
import { writeTool } from "../../activities/tools/write.ts";
import { callTool, makeToolRoom, type ToolRoom } from "../support/tool-room.ts";

const HOLDER = fileURLToPath(new URL("../support/lock-holder.ts", import.meta.url));
const [A, B, C] = ["task-1 (fixer)", "task-2 (fixer)", "task-3 (fixer)"] as const;

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeToolRoom();
  room.put("repo/f", Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join(""));
});
afterEach(() => room.remove());

const file = () => readFileSync(`${room.workspace}/f`, "utf8");
const read = (actor: string) => callTool(readTool, { path: "f" }, room.as(actor));
const write = (actor: string, content: string) => callTool(writeTool, { path: "f", content }, room.as(actor));
const edit = (actor: string, oldText: string, newText: string) =>
  callTool(editTool, { path: "f", oldText, newText }, room.as(actor));

describe("a Write made from an old read", () => {
  test("is refused with the name of who changed the file, and a Read makes it possible", async () => {
    await read(A);
    expect((await edit(B, "line 2\n", "second\n")).isError).toBe(false);
    const before = file();
    const refused = await write(A, "all mine\n");
    expect(refused).toEqual({
      text: `${room.workspace}/f was changed since you read it, by ${B}; nothing was written. Read it again, then write or edit it`,
      isError: true,
    });
    expect(file()).toBe(before);
    await read(A);
    expect((await write(A, "all mine\n")).isError).toBe(false);
    expect(file()).toBe("all mine\n");
  });

  test("is refused if the change came from outside the session", async () => {
    await read(A);
    writeFileSync(`${room.workspace}/f`, "by an editor\n");
    expect((await write(A, "x")).text).toContain("changed since you read it, by someone outside the session");
    expect(file()).toBe("by an editor\n");
  });

  test("is refused if another delegate wrote a file that this one never read", async () => {
    await callTool(writeTool, { path: "new", content: "B's" }, room.as(B));
    const refused = await callTool(writeTool, { path: "new", content: "A's" }, room.as(A));
    expect(refused.text).toContain(`changed by ${B}, and you have not read it; nothing was written`);
    expect(readFileSync(`${room.workspace}/new`, "utf8")).toBe("B's");
  });

  test("passes where nobody else changed anything: own writes, own edits, unread files", async () => {
    expect((await write(A, "one\n")).isError).toBe(false);
    expect((await write(A, "two\n")).isError).toBe(false);
    expect((await edit(A, "two", "three")).isError).toBe(false);
    expect((await write(A, "four\n")).isError).toBe(false);
  });

  test("passes if the file came back to what was read", async () => {
    await read(A);
    const before = file();
    await edit(B, "line 2", "second");
    await read(B);
    await write(B, before);
    expect((await write(A, "x")).isError).toBe(false);
  });

  test("is refused after an own Edit too, which shows nothing of what others changed elsewhere", async () => {
    await read(A);
    await edit(B, "line 2\n", "second\n");
    for (const [before, after] of [
      ["line 9\n", "ninth\n"],
      ["line 8\n", "eighth\n"],
    ] as const) {
      expect((await edit(A, before, after)).text).toContain(
        `; the file was changed since you read it, by ${B}, and that change is kept`,
      );
    }
    expect((await write(A, "x")).text).toContain(`changed since you read it, by ${B}`);
    await read(A);
    expect((await write(A, "x")).isError).toBe(false);
  });

  test("is refused after an own Edit of a file that another delegate changed and this one never read", async () => {
    await edit(B, "line 2\n", "second\n");
    await edit(C, "line 9\n", "ninth\n");
    expect((await write(C, "x")).text).toContain(`changed by ${B}, and you have not read it`);
  });

  test("creates the file anew if it was deleted", async () => {
    await read(A);
    rmSync(`${room.workspace}/f`);
    expect((await write(A, "again\n")).isError).toBe(false);
  });

  test("is judged by what another process noted", async () => {
    await runHolder("read", A);
    await edit(B, "line 2", "second");
    expect((await write(A, "x")).text).toContain(`changed since you read it, by ${B}`);
    await runHolder("edit", C);
    await read(A);
    await runHolder("edit", C);
    expect((await write(A, "x")).text).toContain(`changed since you read it, by ${C}`);
  });

  test("spelled in another way is the same file", async () => {
    await callTool(readTool, { path: `${room.workspace}/./f` }, room.as(A));
    await edit(B, "line 2", "second");
    const refused = await callTool(writeTool, { path: "x/../f", content: "" }, room.as(A));
    expect(refused.text).toContain(`by ${B}`);
  });
});

describe("Edits", () => {
  test("of two delegates in other lines both land", async () => {
    await read(A);
    await read(B);
    expect((await edit(B, "line 2\n", "second\n")).isError).toBe(false);
    expect((await edit(A, "line 9\n", "ninth\n")).isError).toBe(false);
    expect(file()).toContain("second\n");
    expect(file()).toContain("ninth\n");
  });

  test("of one line in the same moment: one lands, the other is told who was first", async () => {
    await read(A);
    await read(B);
    const results = await Promise.all([edit(A, "line 2\n", "of A\n"), edit(B, "line 2\n", "of B\n")]);
    const lost = results.findIndex(({ isError }) => isError);
    expect(results.filter(({ isError }) => isError)).toHaveLength(1);
    expect(results[lost]?.text).toContain(`changed since you read it, by ${lost === 0 ? B : A}`);
    expect(file()).toContain(lost === 0 ? "of B\n" : "of A\n");
  });

  test("of many threads and processes at once all land", async () => {
    room.put("repo/f", Array.from({ length: 40 }, (_, index) => `<${index}>\n`).join(""));
    const threads = Array.from({ length: 4 }, (_, index) => runThread("edit-many", `thread ${index}`, index));
    const processes = Array.from({ length: 4 }, (_, index) =>
      runHolder("edit-many", `process ${index}`, String(index + 4)),
    );
    await Promise.all([...threads, ...processes]);
    const expected = Array.from({ length: 40 }, (_, index) => `<${index}> done by ${index % 8}\n`);
    expect(file()).toBe(expected.join(""));
    expect(readdirSync(room.workspace)).toEqual(["f"]);
    expect(readdirSync(`${room.context.ledger}/locks`)).toEqual([]);
  });
});

describe("the lock", () => {
  test("of a killed process is broken at once, and what it left unfinished is removed", async () => {
    const holder = await startHolder("hold", A);
    expect(readdirSync(room.workspace).filter((name) => name.startsWith(".subagents-"))).toHaveLength(1);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    const startedAt = performance.now();
    expect((await write(B, "mine\n")).isError).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(readdirSync(room.workspace)).toEqual(["f"]);
    expect(readdirSync(`${room.context.ledger}/locks`)).toEqual([]);
  });

  test("of an ended thread is broken while its process lives on", async () => {
    const thread = new Worker(HOLDER, { argv: ["hold", room.root, A, "f"] });
    await once(thread, "message");
    await thread.terminate();
    expect((await write(B, "mine\n")).isError).toBe(false);
    expect(readdirSync(`${room.context.ledger}/locks`)).toEqual([]);
  });

  test("of a stopped but living process is respected, and the wait ends with its name", async () => {
    const holder = await startHolder("hold", A);
    holder.kill("SIGSTOP");
    try {
      const refused = await write(B, "mine\n");
      expect(refused.text).toBe(
        `${room.workspace}/f is being changed by ${A} for more than 10 s; nothing was written, try again`,
      );
      expect(file()).toContain("line 1\n");
    } finally {
      holder.kill("SIGKILL");
    }
  });

  test("is not waited for after a stop", async () => {
    const holder = await startHolder("hold", A);
    const controller = new AbortController();
    const writing = callTool(writeTool, { path: "f", content: "x" }, room.as(B), controller.signal);
    controller.abort();
    expect(await writing).toEqual({ text: "stopped before it was done", isError: true });
    holder.kill("SIGKILL");
  });

  test("that somebody broke meanwhile lets nothing be written", async () => {
    let asked = 0;
    const assertOwner = async () => {
      asked += 1;
      if (asked === 2) for (const name of listLocks()) rmSync(`${room.context.ledger}/locks/${name}`);
    };
    const result = await callTool(writeTool, { path: "f", content: "x" }, { ...room.as(A), assertOwner });
    expect(result.text).toContain("was lost; nothing was written, try again");
    expect(file()).toContain("line 1\n");
    expect(readdirSync(room.workspace)).toEqual(["f"]);
  });

  test("serves in the order of arrival", async () => {
    const order: number[] = [];
    const real = `${room.workspace}/f`;
    const signal = new AbortController().signal;
    let release = () => {};
    const first = withFileLock(room.context, real, signal, async () => {
      order.push(0);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    await untilTrue(() => order.length === 1);
    const others: Promise<void>[] = [];
    for (const index of [1, 2, 3]) {
      others.push(withFileLock(room.context, real, signal, async () => void order.push(index)));
      await untilTrue(() => listLocks().filter(isNumbered).length === index + 1);
    }
    release();
    await Promise.all([first, ...others]);
    expect(order).toEqual([0, 1, 2, 3]);
  });
});

test("a change that a crash kept from happening is nobody's, and the one before it still counts", async () => {
  await callTool(writeTool, { path: "f", content: "of C\n" }, room.as(C));
  const holder = await startHolder("hold", A);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect((await write(B, "x")).text).toContain(`changed by ${C}, and you have not read it`);
  await read(B);
  expect((await write(B, "x")).isError).toBe(false);
});

const listLocks = () => {
  const folder = `${room.context.ledger}/locks`;
  return existsSync(folder) ? readdirSync(folder) : [];
};
const isNumbered = (name: string) => !name.includes(".choosing.");

async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

async function startHolder(...args: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOLDER, args[0] ?? "", room.root, ...args.slice(1)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout) await once(child.stdout, "data");
  return child;
}

async function runHolder(...args: string[]): Promise<void> {
  const child = await startHolder(...args);
  if (child.exitCode === null) await once(child, "exit");
  expect(child.exitCode).toBe(0);
}

async function runThread(work: string, actor: string, index: number): Promise<void> {
  const thread = new Worker(HOLDER, { argv: [work, room.root, actor, String(index)] });
  const [code] = await once(thread, "exit");
  expect(code).toBe(0);
}
