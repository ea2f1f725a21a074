// Real files and links; no server.

import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { openRegularFile } from "../../activities/paths/open-file.ts";
import { openParentFolder } from "../../activities/paths/open-folder.ts";
import { resolvePath } from "../../activities/paths/resolve.ts";
import { readTool } from "../../activities/tools/read.ts";
import { writeTool } from "../../activities/tools/write.ts";
import { makeEscapeRoom, SECRET } from "../support/escape-room.ts";
import { callTool, type ToolRoom } from "../support/tool-room.ts";

jest.setTimeout(60_000);

let room: ToolRoom;
beforeEach(() => {
  room = makeEscapeRoom();
});
afterEach(() => room.remove());

describe("what changes between check and use", () => {
  test("a folder swapped for a link is not read through", async () => {
    const { real } = await resolvePath("a/deep.txt", room);
    room.put("elsewhere/deep.txt", SECRET);
    renameSync(`${room.workspace}/a`, `${room.workspace}/was-a`);
    symlinkSync("../elsewhere", `${room.workspace}/a`);
    await expect(openRegularFile(real)).rejects.toThrow(
      `changed while it was opened; it leads to ${room.root}/elsewhere/deep.txt now`,
    );
  });

  test("a folder swapped for a link is not written through", async () => {
    const { real } = await resolvePath("a/deep.txt", room);
    renameSync(`${room.workspace}/a`, `${room.workspace}/was-a`);
    symlinkSync("../elsewhere", `${room.workspace}/a`);
    await expect(openParentFolder(real)).rejects.toThrow("has become a link meanwhile; nothing was written");
  });

  test("a parent further up swapped for a link is not written through, nor are folders made there", async () => {
    mkdirSync(`${room.workspace}/p/q`, { recursive: true });
    mkdirSync(`${room.root}/elsewhere/q`);
    const { real } = await resolvePath("p/q/new/f.txt", room);
    renameSync(`${room.workspace}/p`, `${room.workspace}/was-p`);
    symlinkSync("../elsewhere", `${room.workspace}/p`);
    await expect(openParentFolder(real)).rejects.toThrow(`leads to ${room.root}/elsewhere/q now`);
    await expect(lstat(`${room.root}/elsewhere/q/new`)).rejects.toThrow("ENOENT");
  });

  test("names below an open folder stay in it when it is moved and a link takes its place", async () => {
    const { real } = await resolvePath("a/new.txt", room);
    const folder = await openParentFolder(real);
    renameSync(`${room.workspace}/a`, `${room.workspace}/was-a`);
    symlinkSync("../elsewhere", `${room.workspace}/a`);
    expect((await lstat(`${folder.path}/deep.txt`)).isFile()).toBe(true);
    await folder.handle.close();
  });

  test("tools that race with a swapping folder never touch the outside", async () => {
    room.put("elsewhere/deep.txt", SECRET);
    const controller = new AbortController();
    const [folder, aside] = [`${room.workspace}/a`, `${room.workspace}/was-a`];
    // Write may make the folder anew while it is missing: that is fine, and it goes.
    const replaceBy = (place: () => void) => {
      for (;;) {
        rmSync(folder, { recursive: true, force: true });
        try {
          place();
          return;
        } catch {}
      }
    };
    const swapping = (async () => {
      renameSync(folder, aside);
      while (!controller.signal.aborted) {
        replaceBy(() => symlinkSync("../elsewhere", folder));
        await new Promise(setImmediate);
        replaceBy(() => renameSync(aside, folder));
        await new Promise(setImmediate);
        renameSync(folder, aside);
      }
    })();
    let answers = "";
    for (let round = 0; round < 150; round++) {
      answers += (await callTool(readTool, { path: "a/deep.txt" }, room.context)).text;
      answers += (await callTool(writeTool, { path: "a/deep.txt", content: `within ${round}` }, room.context))
        .text;
      answers += (await callTool(writeTool, { path: `a/${round}/n.txt`, content: "within" }, room.context))
        .text;
    }
    controller.abort();
    await swapping;
    expect(answers).not.toContain(SECRET);
    expect(readFileSync(`${room.root}/elsewhere/deep.txt`, "utf8")).toBe(SECRET);
    for (let round = 0; round < 150; round++) {
      await expect(lstat(`${room.root}/elsewhere/${round}`)).rejects.toThrow("ENOENT");
    }
  });
});
