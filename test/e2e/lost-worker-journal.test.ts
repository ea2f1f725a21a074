// Tier: real dev server, workers in processes of their own, real tools, a strict provider over real HTTP.
import { appendFile, rename, rm, writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { SessionHandle } from "../../client/session-client.ts";
import { toSessionFolder } from "../../core/state-folder.ts";
import { CrashSite } from "../support/crash-site.ts";
import { callTools, reply } from "../support/openai-server-behaviours.ts";
import { settled, until } from "../support/real-session.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

let site: CrashSite;
let worker: WorkerProcess;

beforeAll(async () => {
  site = await CrashSite.open("lost-worker-journal");
}, 120_000);
beforeEach(async () => {
  worker = await site.startWorker();
});
afterEach(async () => await worker.end());
afterAll(async () => await site?.close(), 60_000);

/** Bring a delegate into its command, and kill its worker there. */
async function loseInCommand(word: string): Promise<{ session: SessionHandle; id: string; file: string }> {
  const session = await site.startSession({
    [word]: [
      (exchange) => {
        exchange.text("What I know so far.");
        exchange.call(0, "b1", "Bash", [JSON.stringify({ command: `echo ran >> '${word}.log'; sleep 300` })]);
        exchange.finish("tool_calls");
      },
      reply("resumed"),
    ],
  });
  const id = await site.start(session, word);
  await until(
    () => site.read(`${word}.log`),
    (text) => text !== "",
  );
  await site.untilDetails(session, id, ({ journalLines, tool }) => journalLines >= 3 && tool !== undefined);
  await worker.end("SIGKILL");
  const file = (await site.journals(session, id)).at(-1)?.file ?? "";
  return { session, id, file };
}

describe("a journal", () => {
  test("that ends in the middle of a line is resumed behind its last whole one", async () => {
    const { session, id, file } = await loseInCommand("[torn]");
    await appendFile(file, '{"kind":"tool-end","result":{"role":"toolRes');
    worker = await site.startWorker();
    expect(await settled(session, id)).toMatchObject({ status: "completed", report: "resumed", attempts: 2 });
    expect(site.toolResults("[torn]")).toEqual([expect.stringMatching(/It may have run/)]);
    expect(site.violations).toEqual([]);
  });

  test.each([
    ["is damaged in its middle", (text: string) => text.replace('"kind":"message"', '"kind":"mess\0\0\0')],
    ["has lost a line", (text: string) => text.replace(/\n[^\n]*\n/, "\n")],
    ["is empty", () => ""],
  ])("that %s is not resumed: JOURNAL_UNAVAILABLE, with what was said", async (name, damage) => {
    const word = `[${name}]`;
    const { session, id, file } = await loseInCommand(word);
    const { text = "" } = (await site.journals(session, id)).at(-1) ?? {};
    await writeFile(file, damage(text));
    worker = await site.startWorker();
    const record = await settled(session, id);
    expect(record).toMatchObject({
      status: "failed",
      error: { code: "JOURNAL_UNAVAILABLE", message: expect.stringMatching(/nothing was resumed from it/) },
      report: "What I know so far.",
    });
    expect(await site.read(`${word}.log`)).toBe("ran\n");
    expect(site.requestsOf(word)).toBe(1);
  });
});

describe("a state folder", () => {
  test("that can't be written to as a run begins: JOURNAL_UNAVAILABLE, at once", async () => {
    const session = await site.startSession({ "[unwritable]": [reply("never")] });
    const { runs } = site.server.stateFolder;
    await rename(runs, `${runs}.away`).catch(() => undefined);
    await writeFile(runs, "a file in its place");
    const id = await site.start(session, "[unwritable]");
    expect(await settled(session, id)).toMatchObject({
      status: "failed",
      error: {
        code: "JOURNAL_UNAVAILABLE",
        message: expect.stringMatching(/can't be written: .*(EEXIST|ENOTDIR)/),
      },
    });
    expect(site.requestsOf("[unwritable]")).toBe(0);
    await rm(runs);
  });

  test("that is full in the middle of a run: JOURNAL_UNAVAILABLE, with what was said; no tool runs unwritten", async () => {
    await worker.end();
    worker = await site.startWorker({ fileLimitBytes: 65_536 });
    const long = "All that I know. ".repeat(1000);
    const session = await site.startSession({
      "[full]": Array.from({ length: 10 }, (_, turn) => (exchange) => {
        exchange.text(`${turn}: ${long}`);
        exchange.call(0, `b${turn}`, "Bash", [JSON.stringify({ command: `echo ${turn} >> full.log` })]);
        exchange.finish("tool_calls");
      }),
    });
    const id = await site.start(session, "[full]");
    const record = await settled(session, id);
    expect(record).toMatchObject({
      status: "failed",
      error: { code: "JOURNAL_UNAVAILABLE", message: expect.stringMatching(/can't be written: .*EFBIG/) },
    });
    expect(record.report).toMatch(/^[34]: All that I know/);
    const calls = (await site.entries(session, id)).filter(({ kind }) => kind === "tool-start");
    expect((await site.read("full.log")).trim().split("\n")).toHaveLength(calls.length);
  });
});

test("one delegate's journal is another's business only if it is resumed: a copy of all, or nothing", async () => {
  const session = await site.startSession({
    "[first]": [
      callTools({ id: "g1", name: "Glob", input: { pattern: "*" } }),
      reply("first"),
      reply("second"),
    ],
  });
  const first = await site.start(session, "[first]");
  await settled(session, first);
  const { delegationId } = await session.task(
    { input: { agent: "hand", task: "go on", resume: first } },
    "resumed",
  );
  expect(await settled(session, delegationId)).toMatchObject({
    status: "completed",
    report: "second",
    turns: 1,
  });
  const [before, after] = await Promise.all([
    site.entries(session, first),
    site.entries(session, delegationId),
  ]);
  expect(after.slice(0, before.length - 1)).toEqual(before.filter(({ kind }) => kind !== "end"));
  expect(site.violations).toEqual([]);
});

test("a conversation that is not in the worker's state folder is not begun anew: the turn says so, and asks nobody", async () => {
  const session = await site.startSession({ "[talk]": [reply("one"), reply("two"), reply("three")] });
  const turn = async (prompt: string) => await session.waitForTurn((await session.send(prompt)).turn);
  expect(await turn("[talk]")).toMatchObject({ status: "completed", answer: "one" });
  const { root } = toSessionFolder(site.server.stateFolder, session.sessionId);
  await rename(root, `${root}.away`);
  expect(await turn("and then?")).toMatchObject({
    status: "failed",
    error: { code: "JOURNAL_UNAVAILABLE", message: expect.stringMatching(/conversation so far/) },
  });
  expect(site.requestsOf("[talk]")).toBe(1);
  await rm(root, { recursive: true });
  await rename(`${root}.away`, root);
  expect(await turn("and now?")).toMatchObject({ status: "completed", answer: "two" });
});
