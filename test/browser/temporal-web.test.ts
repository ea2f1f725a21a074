// Tier: real dev server with its Temporal Web, real browser, real worker, tools and processes; the model's words are scripted.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { SessionHandle } from "../../client/session-client.ts";
import type { RunningWorker } from "../../worker/worker.ts";
import { begin, finish, PROMPT, prepareWorkspace } from "../support/four-endings.ts";
import { RealServer, settled } from "../support/real-session.ts";
import { TemporalWeb } from "../support/temporal-web.ts";

const queue = "web";
let server: RealServer;
let worker: RunningWorker;
let web: TemporalWeb;
let session: SessionHandle;
let turn: number;

beforeAll(async () => {
  server = await RealServer.start({ hasWeb: true, hasSearchAttributes: true });
  [worker, web] = await Promise.all([server.startWorker(queue), TemporalWeb.open(server)]);
  await prepareWorkspace(server.workspace);
  ({ session, turn } = await begin(server, queue, { hasSearchAttributes: true }));
}, 120_000);
afterAll(async () => {
  await web?.close();
  await worker?.stop();
  await server?.stop();
}, 60_000);

const endings = [
  ["task-1", "explorer", "Where availability is computed", "completed", ""],
  ["task-2", "code-reviewer", "reorder.js against its rules", "failed", "PROVIDER_BAD_REQUEST"],
  ["task-3", "test-runner", "What the tests say today", "timed_out", "IDLE_TIMEOUT"],
  ["task-4", "fixer", "Try the repair on a copy", "stopped", "somebody asked it to end"],
  ["task-5", "explorer", "Who reads reserved stock", "aborted", "its turn or session ended before it"],
] as const;

describe("while the turn runs", () => {
  test("the session's page says what was asked, who works on what, and who has ended how", async () => {
    await web.openWorkflow(session.sessionId, "user-metadata");
    await web.sees(PROMPT, "1 completed", "1 failed", "3 running", "Turn 1 (running)");
    const [first, second, third] = await web.readTable();
    expect(first?.join()).toMatch(/^task-1 explorer: Where availability is computed,completed after \d+ s/);
    expect(second?.join()).toMatch(
      /failed after \d+ s: PROVIDER_BAD_REQUEST: .*this key may not use the model/,
    );
    expect(third).toEqual(["task-3 test-runner: What the tests say today", "running", ""]);
  });

  test("a pending activity says in words what its delegate does now", async () => {
    await web.openWorkflow(`${session.sessionId}/task-4`, "pending-activities");
    const seen = await web.sees(
      '"doing": "running Bash npm run --silent watch since 20',
      '"partialReport": "Now the tests, again and again."',
      '"phase": "tool"',
    );
    expect(seen).toMatch(/"doing": .*"lastEventAt": "20\S+Z", "turns": 1, "toolCalls": 1/);
  });
});

describe("once the turn is over", () => {
  beforeAll(async () => {
    await finish(session, turn, server.workspace);
  });

  test("the session's page tells what each delegate was for, how it ended, why, and what it did", async () => {
    await web.openWorkflow(session.sessionId, "user-metadata");
    await web.sees(PROMPT, "Turn 1 (completed)", "Answer: reorder.js compares with <", "1 aborted");
    const rows = await web.readTable();
    expect(rows).toHaveLength(endings.length);
    for (const [index, [id, agent, purpose, status, why]] of endings.entries()) {
      const [name, ending, work] = rows[index] ?? [];
      expect(name).toBe(`${id} ${agent}: ${purpose}`);
      expect(ending).toMatch(new RegExp(`^${status} after \\d+ s.*${why}`));
      expect(work).toMatch(/^\d+ turns?, \d+ tool calls?\. \S/);
    }
    expect(rows[0]?.[2]).toContain("reorder.js is its only caller");
  });

  test("its timeline names the delegates, the main agent's turn, and what is waited for", async () => {
    await web.openWorkflow(session.sessionId, "timeline");
    await web.sees(
      "explorer: Where availability is computed",
      "fixer: Try the repair on a copy",
      "main agent, turn 1: The reorder report leaves items out",
      "TaskWait for 3 of 3: task-1, task-2, task-3",
      "TaskStop waits for the end of task-4",
    );
  });

  test.each(endings)(
    "the page of %s, %s, begins with how it ended",
    async (id, agent, purpose, status, why) => {
      await web.openWorkflow(`${session.sessionId}/${id}`, "timeline");
      await web.sees("COMPLETED", `"status": "${status}"`, ...(why === why.toUpperCase() ? [why] : []));
      await web.openWorkflow(`${session.sessionId}/${id}`, "user-metadata");
      const seen = await web.sees(`${agent}: ${purpose}`, `${agent}, ${id} of session`, why, "Task");
      expect(seen).toMatch(new RegExp(`Task of ${id} .*${status}.*(Report|What it had written) \\S`));
    },
  );

  test("the list has the delegates that failed, with agent and status in columns", async () => {
    await web.setColumns(["Status", "Workflow ID", "SubagentsAgent", "SubagentsStatus"]);
    await web.openList(`SubagentsStatus = "failed"`);
    const seen = await web.sees(`${session.sessionId}/task-2`, "SubagentsAgent", "code-reviewer failed");
    expect(seen).not.toContain(`${session.sessionId}/task-1`);
    await web.openList(`SubagentsAgent = "main"`);
    await web.sees(`${session.sessionId} main completed`);
  });
});

test("who cancels a delegate there has stopped it, and who terminates one is told so by its session", async () => {
  const sleep = { tool: "Bash", input: { command: "sleep 60" } };
  const agents = { "test-runner": [{ text: "seen so far", calls: [sleep] }, { text: "done" }] };
  const acted = await server.startSession(queue, { main: [{ text: "done" }], agents });
  for (const key of ["first", "second"])
    await acted.task({ input: { agent: "test-runner", task: "go", description: key } }, key);
  for (const id of ["task-1", "task-2"]) {
    await web.openWorkflow(`${acted.sessionId}/${id}`, "pending-activities");
    await web.sees('"doing": "running Bash sleep 60');
    await web.act(id === "task-1" ? "Request Cancellation" : "Terminate");
    await settled(acted, id);
  }
  await web.openWorkflow(acted.sessionId, "user-metadata");
  await web.sees("1 stopped · 1 failed");
  const [first, second] = await web.readTable();
  expect(first?.join()).toMatch(/^task-1 test-runner: first,stopped .*asked it to end,.*seen so far/);
  expect(second?.join()).toMatch(/^task-2 test-runner: second,failed .*TERMINATED: .*,.*seen so far/);
});

describe("hostile text", () => {
  const evil = [
    '# Head | a | b\n| x | <img src=http://evil.example/i.png onerror="alert(1)"> ![i](http://evil.example/j.png)',
    "[click](javascript:alert(2)) <script>alert(3)</script> https://evil.example/auto `tick` **bold** \u001b[2J",
    "\u202eabc &lt;b&gt; ~~gone~~ <iframe src=//evil.example></iframe>\n1. one\n---\n```\nfence\n~~~~\n|---|---|\n",
  ].join(" ");
  const names = ["читатель", "讀者", "قارئ"];

  test("in prompts, tasks, descriptions, reports and errors stays text, and the table keeps its columns", async () => {
    const agentDirectories = [path.join(server.folder, "agents")];
    await mkdir(agentDirectories[0] ?? "");
    for (const name of names)
      await writeFile(
        path.join(server.folder, "agents", `${name}.md`),
        "---\ndescription: reads\n---\nRead.",
      );
    const long = evil + "W".repeat(10_000);
    const calls = names.map((agent, index) => ({
      tool: "Task",
      input: { agent, task: long, description: index === 0 ? evil.slice(0, 200) : "W".repeat(200) },
    }));
    const [first = "", second = "", third = ""] = names;
    const script = {
      main: [{ calls }, { calls: [{ tool: "TaskWait", input: {} }] }, { text: evil }],
      agents: {
        [first]: [{ text: long }],
        [second]: [{ error: { status: 400, message: evil } }],
        [third]: [{ text: evil }],
      },
    };
    const hostile = await server.startSession(
      queue,
      script,
      { agentDirectories, hasSearchAttributes: true },
      { prompt: evil },
    );
    const sent = await hostile.send(evil);
    await hostile.waitForTurn(sent.turn);
    for (const id of [hostile.sessionId, ...[1, 2, 3].map((n) => `${hostile.sessionId}/task-${n}`)]) {
      await web.openWorkflow(id, "user-metadata");
      const seen = await web.sees("<script>alert(3)</script>", "1. one", "[2J", "u{202e}abc &lt;b&gt;");
      if (id === hostile.sessionId) {
        await web.sees(...names, "2 completed", "1 failed");
        expect((await web.readTable()).map((row) => row.length)).toEqual([3, 3, 3]);
      }
      // Of a summary too; an address there becomes a link to just that address, which nobody has to follow.
      const summary =
        id === hostile.sessionId ? "Head | a | b" : names.find((name) => seen.includes(`${name}: `));
      const active = await web.readActiveContent(summary ?? "");
      expect(active.filter((html) => !html.startsWith('<a href="http'))).toEqual([]);
      expect(await web.readActiveContent(id === hostile.sessionId ? "Asked" : "Task of")).toEqual([]);
      const ending = id === hostile.sessionId ? "Turn 1" : id.endsWith("2") ? "failed" : "completed";
      expect(await web.readActiveContent(ending)).toEqual([]);
    }
    await web.openWorkflow(hostile.sessionId, "timeline");
    await web.sees(`${names[0]}: # Head | a | b`);
    expect(web.intrusions).toEqual([]);
  });
});

test("without a worker the session's memo and search attributes still tell how everything ended", async () => {
  await worker.stop();
  await web.openWorkflow(session.sessionId, "memo");
  await web.sees(
    '"turn": "1: completed"',
    '"answer": "reorder.js compares with <',
    ...endings.map(([id, agent, , status]) => `${id} ${agent}: ${status}`),
    "timed_out IDLE_TIMEOUT",
    "reorder.js is its only caller",
  );
  await web.openWorkflow(session.sessionId, "search-attributes");
  await web.sees("SubagentsStatus", "completed");
  worker = await server.startWorker(queue);
});

test("a closed session's page begins with what its delegates came to", async () => {
  await session.close();
  await server.environment.client.workflow.getHandle(session.sessionId).result();
  await web.openWorkflow(session.sessionId, "timeline");
  await web.sees("COMPLETED", '"id": "task-1"', '"status": "completed"', '"report": "`available()` in');
});

test("on a server without our search attributes everything else is there", async () => {
  const bare = await RealServer.start({ hasWeb: true });
  const bareWorker = await bare.startWorker(queue);
  const bareWeb = await TemporalWeb.open(bare);
  try {
    const calls = [{ tool: "Task", input: { agent: "explorer", task: "look", description: "a look" } }];
    const script = {
      main: [{ calls }, { calls: [{ tool: "TaskWait", input: {} }] }, { text: "done" }],
      agents: { explorer: [{ text: "the report" }] },
    };
    const plain = await bare.startSession(queue, script, {}, { prompt: "plain" });
    await plain.waitForTurn((await plain.send("plain")).turn);
    await bareWeb.openWorkflow(plain.sessionId, "user-metadata");
    await bareWeb.sees(
      "Turn 1 (completed): plain",
      "task-1 explorer: a look",
      "completed after",
      "the report",
    );
    await bareWeb.openWorkflow(plain.sessionId, "search-attributes");
    expect(await bareWeb.sees("BuildIds")).not.toContain("SubagentsStatus");
  } finally {
    await bareWeb.close();
    await bareWorker.stop();
    await bare.stop();
  }
});
