import { Worker } from "node:worker_threads";
import { expect, test } from "@jest/globals";
import { killRun } from "../../activities/processes/end-processes.ts";
import type { ToolContext } from "../../activities/tools/tool.ts";
import { findByCommandLine, openBash, toRareSleep, until } from "./bash-support.ts";

function startThread(context: ToolContext, command: string): Worker {
  return new Worker(new URL("./bash-thread.ts", import.meta.url), { workerData: { context, command } });
}

test("a command in a thread answers as in the main one", async () => {
  using bash = openBash();
  const thread = startThread(bash.context, "sleep 99 & yes | head -c 100000; echo end; exit 2");
  const result = await new Promise((resolve, reject) =>
    thread.once("message", resolve).once("error", reject),
  );
  expect(result).toMatchObject({
    isError: true,
    warnings: [],
    text: expect.stringMatching(/^Exit code 2\.\n1 background process was [\s\S]*\nend\n$/),
  });
  await thread.terminate();
});

test("after a thread was terminated in the middle of a command, killRun leaves none of its processes", async () => {
  using bash = openBash();
  const rare = toRareSleep();
  const thread = startThread(bash.context, `trap '' TERM; setsid sleep ${rare} & sleep ${rare}; :`);
  await until(() => findByCommandLine(`sleep ${rare}`).length >= 3);
  await thread.terminate();
  expect(findByCommandLine(rare).length).toBeGreaterThanOrEqual(3);
  const start = performance.now();
  expect((await killRun(bash.context.runMarker)).left).toBe(0);
  expect(performance.now() - start).toBeLessThan(1_000);
  expect(findByCommandLine(rare)).toEqual([]);
});
