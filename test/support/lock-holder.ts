// Runs as a process or a thread of its own: argv = work, the room's root, actor, and what the work needs.
import { parentPort } from "node:worker_threads";
import { editTool } from "../../activities/tools/edit.ts";
import { readTool } from "../../activities/tools/read.ts";
import type { ToolContext } from "../../activities/tools/tool.ts";
import { writeTool } from "../../activities/tools/write.ts";

const [, , work, root, actor = "", detail = "0"] = process.argv;
const signal = new AbortController().signal;
const context: ToolContext = {
  workspace: `${root}/repo`,
  scratch: `${root}/scratch`,
  outputs: `${root}/outputs`,
  ledger: `${root}/ledger`,
  actor,
  runMarker: "lock-holder",
  maxSeconds: 60,
  callId: "call-1",
};

function say(text: string): void {
  if (parentPort) parentPort.postMessage(text);
  else process.stdout.write(`${text}\n`);
}

async function edit(oldText: string, newText: string): Promise<void> {
  const result = await editTool.execute({ path: "f", oldText, newText }, context, signal);
  if (result.isError) throw new Error(result.text);
}

if (work === "read") {
  await readTool.execute({ path: "f" }, context, signal);
  say("read");
} else if (work === "edit") {
  await edit("line 3", "line 3!");
  say("edited");
} else if (work === "edit-many") {
  const index = Number(detail);
  for (let line = index; line < 40; line += 8) await edit(`<${line}>\n`, `<${line}> done by ${index}\n`);
  say("edited");
} else if (work === "hold") {
  // The last question before the commit is never answered: the lock is held, the new content lies beside the file.
  await readTool.execute({ path: "f" }, context, signal);
  let asked = 0;
  const assertOwner = async () => {
    asked += 1;
    if (asked < 2) return;
    say("held");
    await new Promise(() => setInterval(() => {}, 1_000));
  };
  await writeTool.execute({ path: "f", content: "unfinished\n" }, { ...context, assertOwner }, signal);
}
