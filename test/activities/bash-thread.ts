// The thread of bash-thread.test.ts: runs one command with the Bash tool, as an agent thread does.
import { parentPort, workerData } from "node:worker_threads";
import { createBashTool } from "../../activities/tools/bash.ts";

const { context, command } = workerData;
const warnings: string[] = [];
process.on("warning", ({ message }) => warnings.push(message));
await createBashTool().execute(
  { command: "true", timeoutSeconds: undefined },
  context,
  new AbortController().signal,
);
const result = await createBashTool().execute(
  { command, timeoutSeconds: undefined },
  context,
  new AbortController().signal,
);
parentPort?.postMessage({ ...result, warnings });
