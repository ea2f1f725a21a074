// `subagents replay`: files alone need no server, ids are fetched from one, and what diverges is named with its place.
import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { isNotFound } from "../../client/workflow-histories.ts";
import { loadHistory, toHistoryPath } from "../support/histories.ts";
import { RealServer, settleOne, until } from "../support/real-session.ts";
import { createMachine, type Machine } from "./cli-process.ts";

const histories = fileURLToPath(new URL("../replay/histories", import.meta.url));
let machine: Machine;
beforeAll(async () => {
  machine = await createMachine();
});

async function writeHistory(name: string, from: string, replace: [string, string][]): Promise<string> {
  let text = JSON.stringify(await loadHistory(from));
  for (const [old, instead] of replace) text = text.replaceAll(old, instead);
  const file = path.join(machine.folder, name);
  await writeFile(file, text);
  return file;
}

describe("files", () => {
  test("a folder of histories replays, without a server and without starting one", async () => {
    const { code, stdout, stderr } = await machine.run("replay", histories);
    const count = readdirSync(histories).length;
    expect(stderr).toBe("");
    expect(stdout).toMatch(
      /^replays {7}.*completed\.delegate\.json \(delegateWorkflow session-.*\/task-1, run .*, 16 events, completed\)$/m,
    );
    expect(stdout.trimEnd().split("\n").at(-1)).toBe(`${count} histories: ${count} replay.`);
    expect(code).toBe(0);
    expect(existsSync(path.join(machine.folder, "state", "subagents", "dev-server"))).toBe(false);
  });

  test("a divergence says what the history has, what the code does, and where; exit code 1 outranks what can't be read", async () => {
    const renamed = await writeHistory("renamed.json", "completed.delegate", [["runAgent", "runSomething"]]);
    const { code, stdout } = await machine.run(
      "replay",
      renamed,
      toHistoryPath("stopped.session"),
      "none.json",
    );
    expect(code).toBe(1);
    expect(stdout.split("\n").map((line) => line.trim())).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^DIVERGED .*renamed\.json/),
        expect.stringMatching(/^where: {4}event 5 at 20.*Z, in the workflow task of events 2, 3, 4$/),
        "history:  ActivityTaskScheduled runSomething (activity 1)",
        "the code: schedules an activity of type runAgent",
        ">     5  ActivityTaskScheduled runSomething (activity 1)",
        expect.stringMatching(/^replays .*stopped\.session\.json/),
        expect.stringMatching(/^NOT FOUND +none\.json$/),
        "3 histories: 1 replay, 1 diverged, 1 could not be read.",
      ]),
    );
  });

  test("--json is an object a history and a result", async () => {
    const renamed = await writeHistory("renamed.json", "completed.delegate", [["runAgent", "runSomething"]]);
    const other = await writeHistory("other.json", "completed.delegate", [
      ["delegateWorkflow", "noWorkflow"],
    ]);
    const { code, events, stderr } = await machine.run(
      "replay",
      "--json",
      renamed,
      other,
      toHistoryPath("stopped.session"),
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(events).toMatchObject([
      {
        type: "replay",
        name: renamed,
        status: "diverged",
        workflowType: "delegateWorkflow",
        events: 16,
        ended: "completed",
        divergence: { event: { eventId: 5, type: "ActivityTaskScheduled" }, workflowTask: [2, 3, 4] },
      },
      { type: "replay", name: other, status: "unknown-type" },
      { type: "replay", status: "replays" },
      { type: "result", histories: 3, replay: 1, diverged: 1, unknownType: 1, unreadable: 0, exitCode: 1 },
    ]);
    expect(events).toHaveLength(4);
  });

  test("what can't be read or found ends with 2, and each says why", async () => {
    const cut = path.join(machine.folder, "cut.json");
    await writeFile(cut, JSON.stringify(await loadHistory("completed.session")).slice(0, 3000));
    const { code, stdout } = await machine.run(
      "replay",
      cut,
      "./none",
      machine.workspace,
      toHistoryPath("stopped.session"),
    );
    expect(code).toBe(2);
    expect(stdout).toContain("it is cut off: its JSON does not end");
    expect(stdout).toContain("there is no such file");
    expect(stdout).toContain("it is a folder without histories");
    expect(stdout).toContain("4 histories: 1 replay, 3 could not be read.");
  });

  test("nothing in a history can drive the terminal", async () => {
    const evil = "\\u001b[2J\\u001b]52;c;aGk=\\u0007\\r\\u202e";
    const file = await writeHistory("evil.json", "completed.delegate", [
      ["runAgent", `run${evil}`],
      ['"workflowId":"session', `"workflowId":"${evil}session`],
    ]);
    for (const flags of [[], ["--json"]]) {
      const { code, stdout, stderr } = await machine.run("replay", ...flags, file);
      expect(code).toBe(1);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });

  test("what workflow code writes to its console stays off standard output, and can't drive the terminal", async () => {
    const { events } = await loadHistory("completed.delegate");
    const file = path.join(machine.folder, "open.json");
    await writeFile(file, JSON.stringify({ events: events.slice(0, 3) }));
    const workflows = fileURLToPath(new URL("../fixtures/noisy-workflows.ts", import.meta.url));
    const plain = await machine.run("replay", "--workflows", workflows, file);
    expect(plain.stdout).toMatch(/^replays .*\n1 history: 1 replay\.\n$/);
    expect(plain.stderr.replaceAll(/^\[.*?\] /gm, "")).toBe("seen \\x1b[2J\nseen too\n");
    const json = await machine.run("replay", "--json", "--workflows", workflows, file);
    expect(json.events).toMatchObject([{ status: "replays" }, { type: "result" }]);
    expect({ stderr: json.stderr, lines: json.stdout.trimEnd().split("\n").length }).toEqual({
      stderr: "",
      lines: 2,
    });
  });

  test.each([
    [["replay"], /missing required argument/],
    [["replay", "--run-id", "x", "a.json"], /--run-id goes with one workflow id/],
    [["replay", "--run-id", "x", "a", "b"], /--run-id goes with one workflow id/],
    [["replay", "--workflows", "none.ts", histories], /there is no workflows file none\.ts/],
    [["replay", "--workflows", histories, histories], /is a folder: name the workflows file in it/],
    [
      ["replay", "--workflows", fileURLToPath(new URL("../../README.md", import.meta.url)), "x.json"],
      /can't be bundled/,
    ],
  ])("%j is a mistake, and nothing is replayed", async (words, text) => {
    const { code, stdout, stderr } = await machine.run(...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(text);
  });
});

describe("ids", () => {
  let server: RealServer;
  let sessionId: string;
  let runs: string[];
  /** A session whose delegate the server does not keep. */
  let shortened: string;
  beforeAll(async () => {
    server = await RealServer.start();
    const worker = await server.startWorker("replay");
    const script = { main: [{ text: "done" }], agents: { explorer: [{ text: "the report" }] } };
    const session = await server.startSession("replay", script, { continueAsNewAfterEvents: 20 });
    ({ sessionId } = session);
    const handle = server.environment.client.workflow.getHandle(sessionId);
    runs = [(await handle.describe()).runId];
    for (const _ of ["task-1", "task-2"]) {
      await settleOne(session);
      const { runId } = await until(
        async () => await handle.describe(),
        (found) => found.runId !== runs[0],
      );
      runs.unshift(runId);
    }
    ({ sessionId: shortened } = await server.startSession("replay", script));
    await settleOne(server.sessions.get(shortened));
    // The server takes its time over it; the test of it comes last.
    const workflowExecution = { workflowId: `${shortened}/task-1` };
    const { workflowService } = server.environment.client;
    await workflowService.deleteWorkflowExecution({ namespace: "default", workflowExecution });
    await worker.stop();
  });
  afterAll(async () => {
    await server.stop();
  });

  const replay = async (...words: string[]) =>
    await machine.run("replay", "--json", "--address", server.address, ...words);

  test("a session is all of its runs, the latest first, and all of its delegates; open ones too", async () => {
    const { code, events, stderr } = await replay(sessionId);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [last, ...replayed] = events.toReversed();
    expect(last).toMatchObject({ type: "result", replay: 5, notKept: 0 });
    expect(replayed.toReversed()).toMatchObject([
      { name: sessionId, runId: runs[0], status: "replays", ended: "open" },
      { name: sessionId, runId: runs[1], status: "replays", ended: "continued as new" },
      { name: sessionId, runId: runs[2], status: "replays", ended: "continued as new" },
      { name: `${sessionId}/task-2`, status: "replays", ended: "completed" },
      { name: `${sessionId}/task-1`, status: "replays", ended: "completed" },
    ]);
  });

  test("delegates can be left out, one run can be named, and a delegate has an id of its own", async () => {
    const seen = async (...words: string[]) =>
      (await replay(...words)).events.slice(0, -1).map(({ name, runId }) => [name, runId]);
    expect(await seen("--no-delegates", sessionId)).toEqual(runs.map((runId) => [sessionId, runId]));
    expect(await seen("--no-delegates", "--run-id", runs[0] ?? "", sessionId)).toEqual([
      [sessionId, runs[0]],
    ]);
    expect(await seen(`${sessionId}/task-2`)).toEqual([[`${sessionId}/task-2`, expect.any(String)]]);
  });

  test("an id that is unknown does not end the others", async () => {
    const { code, events } = await replay(
      "nothing-of-that-name",
      `${sessionId}/task-1`,
      toHistoryPath("stopped.session"),
    );
    expect(code).toBe(2);
    expect(events.map(({ status }) => status)).toEqual(["not-found", "replays", "replays", undefined]);
    expect(events[0]?.text).toBe("there is no such file, and no such workflow on the server");
  });

  test("a server that can't be reached is said for its ids, and files replay all the same", async () => {
    const { code, events } = await machine.run(
      ...["replay", "--json", "--address", "127.0.0.1:9", sessionId, toHistoryPath("stopped.session")],
    );
    expect(code).toBe(2);
    expect(events[0]).toMatchObject({
      status: "unreadable",
      text: expect.stringContaining("127.0.0.1:9 can't be reached"),
    });
    expect(events[1]).toMatchObject({ status: "replays" });
  });

  test("a run that was reset replays up to where it was, and with what came after", async () => {
    const { client } = server.environment;
    for (const [workflowId, first = ""] of [[`${sessionId}/task-1`], [sessionId, runs.at(-1)]] as const) {
      const { events } = await client.workflow.getHandle(workflowId, first).fetchHistory();
      const completed = events?.filter((event) => event.workflowTaskCompletedEventAttributes) ?? [];
      const { runId } = await client.workflowService.resetWorkflowExecution({
        namespace: "default",
        workflowExecution: { workflowId, runId: first },
        workflowTaskFinishEventId: completed.at(-1)?.eventId ?? null,
        requestId: workflowId,
        reason: "a test",
      });
      const { code, events: said } = await replay("--no-delegates", "--run-id", runId, workflowId);
      expect({ code, said }).toMatchObject({ code: 0, said: [{ runId, status: "replays" }, { replay: 1 }] });
      const { events: after } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      expect(after?.some((event) => event.workflowTaskFailedEventAttributes?.newRunId === runId)).toBe(true);
    }
  });

  test("a run that the server keeps no longer is said, and is no fault", async () => {
    const { client } = server.environment;
    await until(
      async () => await client.workflow.getHandle(`${shortened}/task-1`).describe().catch(isNotFound),
      (found) => found === true,
      100_000,
    );
    const { code, events, stdout } = await replay(shortened);
    expect({ code, events }).toMatchObject({
      code: 0,
      events: [{ name: shortened }, { replay: 1, notKept: 1 }],
    });
    expect(stdout).not.toContain("task-1");
  });
});
