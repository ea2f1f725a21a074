// Tier: real dev server, workers in processes of their own, real tools, a strict provider over real HTTP.
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CrashSite } from "../support/crash-site.ts";
import { callTools, drip, reply } from "../support/openai-server-behaviours.ts";
import { settled, until } from "../support/real-session.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

const DEPLOYS = 10;
let site: CrashSite;
let worker: WorkerProcess;

beforeAll(async () => {
  site = await CrashSite.open("lost-worker-shutdown");
  worker = await site.startWorker();
}, 120_000);
afterAll(async () => await site?.close(), 60_000);

const deploy = async () => {
  await worker.end("SIGTERM");
  worker = await site.startWorker();
};

describe("a worker that is shut down", () => {
  test("ten times in a row, in the middle of an answer or of the setting up, loses nothing and counts nothing", async () => {
    let isPatient = false;
    const session = await site.startSession({
      "[deploys]": [(exchange) => (isPatient ? reply("after ten deploys")(exchange) : drip(100)(exchange))],
    });
    const seen = new Set(await site.records());
    const id = await site.start(session, "[deploys]");
    for (let number = 1; number <= DEPLOYS; number++) {
      if (number % 2 === 0) {
        // The record is the first thing that an attempt does: nothing but the shutdown happens to it.
        const records = await until(
          () => site.records(),
          (found) => found.some((record) => !seen.has(record) && record.endsWith(".json")),
        );
        for (const record of records) seen.add(record);
      } else {
        await site.untilDetails(
          session,
          id,
          (details) => details.attempt === number && details.partialReport.includes("token2"),
        );
        for (const record of await site.records()) seen.add(record);
      }
      if (number === DEPLOYS) isPatient = true;
      await deploy();
    }
    const record = await settled(session, id);
    expect(record).toMatchObject({
      status: "completed",
      report: "after ten deploys",
      attempts: DEPLOYS + 1,
      turns: 1,
    });
    expect(site.violations).toEqual([]);
  });

  test("counts for nothing beside losses: two kills among deploys are two", async () => {
    let isPatient = false;
    const session = await site.startSession({
      "[mixed]": [(exchange) => (isPatient ? reply("done")(exchange) : drip(100)(exchange))],
    });
    const id = await site.start(session, "[mixed]");
    for (const [index, signal] of (["SIGKILL", "SIGTERM", "SIGKILL", "SIGTERM"] as const).entries()) {
      await site.untilDetails(
        session,
        id,
        (details) => details.attempt === index + 1 && details.partialReport.includes("token1"),
      );
      if (index === 3) isPatient = true;
      await worker.end(signal);
      worker = await site.startWorker();
    }
    expect(await settled(session, id)).toMatchObject({ status: "completed", report: "done", attempts: 5 });
  });

  test("in the middle of a command ends it, says that it may have run, and runs it once", async () => {
    const session = await site.startSession({
      "[command]": [
        callTools({
          id: "b1",
          name: "Bash",
          input: { command: "echo ran >> command.log; trap '' TERM; setsid sleep 300 & sleep 300" },
        }),
        reply("checked"),
      ],
    });
    const id = await site.start(session, "[command]");
    await until(
      () => site.read("command.log"),
      (text) => text !== "",
    );
    await worker.end("SIGTERM");
    expect(await site.processesOf(session)).toEqual([]);
    worker = await site.startWorker();
    expect(await settled(session, id)).toMatchObject({ status: "completed", report: "checked", attempts: 2 });
    expect(site.toolResults("[command]")).toEqual([expect.stringMatching(/It may have run/)]);
    expect(await site.read("command.log")).toBe("ran\n");
    expect(site.violations).toEqual([]);
  });

  test("in the middle of a search and of a TaskWait: the search runs again, the wait goes on", async () => {
    // A pattern that backtracks for ages keeps the call under way; without the file it answers at once.
    const trap = path.join(site.server.workspace, `${"a".repeat(120)}c`);
    await writeFile(trap, "");
    const glob = { id: "g1", name: "Glob", input: { pattern: `${"*a".repeat(12)}*b` } };
    const session = await site.startSession({
      "[waiter]": [
        callTools({ id: "t1", name: "Task", input: { agent: "hand", task: "[search]" } }),
        callTools({ id: "w1", name: "TaskWait", input: {} }),
        reply("the search is over"),
      ],
      "[search]": [callTools(glob), reply("found nothing")],
    });
    await session.send("[waiter]", "turn");
    await site.untilDetails(session, "task-1", ({ tool }) => tool?.name === "Glob");
    await until(
      () => session.liveTurn(),
      (live) => "details" in live && live.details?.tool?.name === "TaskWait",
    );
    await worker.end("SIGTERM");
    await rm(trap);
    worker = await site.startWorker();
    expect(await session.waitForTurn(1)).toMatchObject({
      status: "completed",
      answer: "the search is over",
      attempts: 2,
    });
    expect(site.toolResults("[search]")).toEqual([expect.stringMatching(/no file matches/)]);
    expect(site.toolResults("[waiter]").at(-1)).toMatch(/completed[\s\S]*found nothing/);
    expect(site.violations).toEqual([]);
  });
});
