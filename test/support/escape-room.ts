import { linkSync, symlinkSync } from "node:fs";
import { makeToolRoom, type ToolRoom } from "./tool-room.ts";

/** What no tool may show or change. */
export const SECRET = "outside-secret";

/** Make a workspace that is full of ways out, and of links that stay within. */
export function makeEscapeRoom(): ToolRoom {
  const room = makeToolRoom();
  room.put("secret.txt", `${SECRET}\n`);
  room.put("elsewhere/f", `${SECRET}\n`);
  room.put("repo-evil/f", `${SECRET}\n`);
  room.put("scratch/note.txt", "within\n");
  room.put("repo/plain.txt", "within\n");
  room.put("repo/a/deep.txt", "within\n");
  room.put("repo/REPO/f", "within\n");
  const links: Array<[name: string, target: string]> = [
    ["out-folder", "../elsewhere"],
    ["out-absolute", `${room.root}/elsewhere`],
    ["out-file", "../secret.txt"],
    ["out-root", "/"],
    ["out-dangling", "../not-there.txt"],
    ["out-dangling-deep", "../nowhere/deep/x"],
    ["chain-1", "chain-2"],
    ["chain-2", "a/chain-3"],
    ["a/chain-3", "../../elsewhere"],
    ["up", ".."],
    ["loop", "loop"],
    ["twin", "../repo-evil"],
    ["a/to-top", ".."],
    ["in-folder", "a"],
    ["in-file", "plain.txt"],
    ["in-dangling", "a/new.txt"],
    ["in-absolute", `${room.workspace}/a`],
    ["in-scratch", "../scratch"],
  ];
  for (const [name, target] of links) symlinkSync(target, `${room.workspace}/${name}`);
  linkSync(`${room.workspace}/plain.txt`, `${room.workspace}/hard.txt`);
  return room;
}
