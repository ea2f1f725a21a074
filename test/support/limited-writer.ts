// Runs as a process of its own under a limit of the size of files: argv = the room's root.
import type { ToolContext } from "../../activities/tools/tool.ts";
import { writeTool } from "../../activities/tools/write.ts";

// Without a listener the signal that comes with the limit ends the process.
process.on("SIGXFSZ", () => {});

const root = process.argv[2];
const context: ToolContext = {
  workspace: `${root}/repo`,
  scratch: `${root}/scratch`,
  outputs: `${root}/outputs`,
  ledger: `${root}/ledger`,
  actor: "task-1 (fixer)",
  runMarker: "limited-writer",
  maxSeconds: 60,
  callId: "call-1",
};
const content = "x".repeat(1_000_000);
const result = await writeTool.execute({ path: "f", content }, context, new AbortController().signal);
process.stdout.write(JSON.stringify(result));
