// Tier: real dev server, workers in processes of their own, real tools, a strict provider over real HTTP.
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CrashSite } from "../support/crash-site.ts";
import { callTools, drip, reply } from "../support/openai-server-behaviours.ts";
import { settled, until } from "../support/real-session.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

let site: CrashSite;
let worker: WorkerProcess;

beforeAll(async () => {
  site = await CrashSite.open("lost-worker");
  worker = await site.startWorker();
}, 120_000);
afterAll(async () => await site?.close(), 60_000);

/** Kill the worker and start it again. */
async function lose(): Promise<void> {
  await worker.end("SIGKILL");
  worker = await site.startWorker();
}

const bash = (id: string, command: string) => ({ id, name: "Bash", input: { command } });

describe("a worker that is killed and started again", () => {
  test("in the middle of an answer: the answer is asked for once more, within 5 s of the worker's start", async () => {
    let asked = 0;
    const session = await site.startSession({
      "[stream]": [(exchange) => (asked++ === 0 ? drip(100)(exchange) : reply("the whole report")(exchange))],
    });
    const id = await site.start(session, "[stream]");
    await site.untilDetails(session, id, ({ partialReport }) => partialReport.includes("token3"));
    await lose();
    expect(await settled(session, id)).toMatchObject({
      status: "completed",
      report: "the whole report",
      turns: 1,
      attempts: 2,
    });
    expect(asked).toBe(2);
    expect(site.violations).toEqual([]);
  }, 90_000);

  test("in the middle of a command: it may have run, and is not run again; nothing of it stays", async () => {
    const command = "echo ran >> bash.log; setsid nohup sleep 300 > /dev/null 2>&1 & sleep 300";
    const session = await site.startSession({
      "[bash]": [callTools(bash("b1", command)), reply("checked")],
    });
    const id = await site.start(session, "[bash]");
    await until(
      () => site.read("bash.log"),
      (text) => text !== "",
    );
    await lose();
    expect(await site.processesOf(session)).toEqual([]);
    expect(await settled(session, id)).toMatchObject({ status: "completed", toolCalls: 1, attempts: 2 });
    expect(site.toolResults("[bash]")).toEqual([expect.stringMatching(/It may have run/)]);
    expect(await site.read("bash.log")).toBe("ran\n");
    expect(site.violations).toEqual([]);
  }, 90_000);

  test("in the middle of a search: it runs again", async () => {
    // A pattern that backtracks for ages keeps the call under way; without the file it answers at once.
    const trap = path.join(site.server.workspace, `${"a".repeat(120)}c`);
    await writeFile(trap, "");
    const pattern = `${"*a".repeat(12)}*b`;
    const session = await site.startSession({
      "[glob]": [callTools({ id: "g1", name: "Glob", input: { pattern } }), reply("found")],
    });
    const id = await site.start(session, "[glob]");
    await site.untilDetails(session, id, ({ tool }) => tool?.name === "Glob");
    await worker.end("SIGKILL");
    await rm(trap);
    worker = await site.startWorker();
    expect(await settled(session, id)).toMatchObject({ status: "completed", toolCalls: 1, attempts: 2 });
    expect(site.toolResults("[glob]")).toEqual([expect.stringMatching(/no file matches/)]);
    expect(site.violations).toEqual([]);
  }, 90_000);

  test("between two results of one answer: the first is kept, the second may have run", async () => {
    const session = await site.startSession({
      "[pair]": [
        callTools(
          bash("p1", "echo first >> pair.log; echo one"),
          bash("p2", "echo second >> pair.log; sleep 300"),
        ),
        reply("both seen"),
      ],
    });
    const id = await site.start(session, "[pair]");
    await until(
      async () => ({ log: await site.read("pair.log"), entries: await site.entries(session, id) }),
      ({ log, entries }) => log.includes("second") && entries.some(({ kind }) => kind === "tool-end"),
    );
    await lose();
    expect(await settled(session, id)).toMatchObject({ status: "completed", turns: 2, toolCalls: 2 });
    expect(site.toolResults("[pair]")).toEqual([
      expect.stringMatching(/^one/),
      expect.stringMatching(/It may have run/),
    ]);
    expect((await site.read("pair.log")).split("\n").toSorted()).toEqual(["", "first", "second"]);
    expect(site.violations).toEqual([]);
  }, 90_000);

  test("and killed and started again: the first new event comes within 5 s of the worker's start, each time", async () => {
    const session = await site.startSession({ "[quick]": [drip(500)] });
    const id = await site.start(session, "[quick]");
    await site.untilDetails(session, id, ({ partialReport }) => partialReport.includes("token1"));
    await lose();
    expect(await site.firstEventAfter(worker, "[quick]")).toBeLessThan(5000);
    // The second loss counts only from where the run speaks again.
    await site.untilDetails(session, id, ({ attempt, phase }) => attempt === 2 && phase === "model");
    await lose();
    expect(await site.firstEventAfter(worker, "[quick]")).toBeLessThan(5000);
    await session.taskStop({ input: { delegationIds: [id] } }, "stop");
  }, 90_000);
});
