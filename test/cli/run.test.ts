// Whole commands as a person runs them: real processes, dev server, worker, tools and files; only a model's words are scripted.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  createMachine,
  type JsonLine,
  listProcesses,
  type Machine,
  type RunningCommand,
} from "./cli-process.ts";
import { waitUntil } from "./wait-until.ts";

let machine: Machine;
let server: RunningCommand;

beforeAll(async () => {
  machine = await createMachine();
  writeFileSync(path.join(machine.workspace, "a.txt"), "hello\n");
  // One server for the whole file; each command takes its own lease on it.
  server = await machine.startReady("dev");
}, 180_000);

afterAll(async () => {
  server.child.kill("SIGTERM");
  expect((await server.result).code).toBe(0);
}, 60_000);

const task = (input: unknown) => ({ tool: "Task", input });
const waitForAll = { tool: "TaskWait", input: {} };

const two = {
  main: [
    {
      calls: [
        task({ agent: "explorer", task: "look at A", description: "A \u001b[2J" }),
        task({ agent: "explorer", task: "look at B", description: "B" }),
      ],
    },
    { calls: [waitForAll] },
    { text: "Both \u001b[31mlooked at." },
    { text: "The second answer." },
  ],
  agents: {
    explorer: [
      { when: "A", steps: [{ calls: [{ tool: "Read", input: { path: "a.txt" } }] }, { text: "A is fine" }] },
      { steps: [{ text: "B is fine" }] },
    ],
  },
};
/** A delegate that is silent for ever once it has said its first words. */
const hold = {
  main: [
    { calls: [task({ agent: "explorer", task: "hold" })] },
    { calls: [waitForAll] },
    { text: "Never said." },
  ],
  agents: { explorer: [{ text: "as far as it came, and no further", silence: { afterCharacters: 17 } }] },
};

function resultOf(events: JsonLine[]): JsonLine {
  const last = events.at(-1);
  if (last?.type !== "result") throw new Error(`the last line is no result: ${JSON.stringify(last)}`);
  return last;
}

async function startHolding(name: string): Promise<{ command: RunningCommand; session: string }> {
  const script = machine.writeScript(name, hold);
  const command = machine.start("run", "hold", "--script", script, "--json");
  await waitUntil(() => command.events().some(({ type }) => type === "delegation"), 60_000);
  return { command, session: String(command.events().find(({ type }) => type === "session")?.session) };
}

/** Runs of a session that their worker has put on file. */
function countRunRecords(session: string): number {
  const folder = path.join(machine.folder, "state", "subagents", "runs");
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.filter((name) => readFileSync(path.join(folder, name), "utf8").includes(session)).length;
}

describe("run", () => {
  test("gives the answer alone on standard output, and the story on standard error, escaped", async () => {
    const script = machine.writeScript("two", two);
    const { code, stdout, stderr } = await machine.run("run", "look at both", "--script", script);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Both \\x1b[31mlooked at.\n" });
    expect(stderr).toMatch(/task-1 explorer started: A \\x1b\[2J\n/);
    expect(stderr).toMatch(/task-1 explorer completed after [\d.]+ s, 2 turns, 1 tool call\n/);
    expect(stderr).toMatch(/completed after [\d.]+ s: 3 turns, 3 tool calls/);
    expect(stderr).toMatch(/\ntask-2 +explorer +completed .* B\n/);
    expect(stderr).toContain("The model's words were scripted");
    expect(stderr).toMatch(/Temporal Web.*\/namespaces\/default\/workflows\/session-/);
    expect(stderr).not.toContain("\u001b");
  }, 60_000);

  test("tells programs everything, one object a line, the result last; send goes on with what the session was", async () => {
    const script = machine.writeScript("two-json", two);
    const { code, events, stderr } = await machine.run("run", "look at both", "--script", script, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["session", "turn"]);
    const result = resultOf(events);
    expect(result).toMatchObject({
      status: "completed",
      answer: "Both \u001b[31mlooked at.",
      delegations: [
        {
          id: "task-1",
          agent: "explorer",
          description: "A \u001b[2J",
          status: "completed",
          report: "A is fine",
          turns: 2,
          toolCalls: 1,
        },
        { id: "task-2", status: "completed", report: "B is fine", turns: 1, toolCalls: 0 },
      ],
    });
    const session = String(result.session);
    const sent = await machine.run("send", session, "and again?", "--json");
    const second = { session, turn: 2, answer: "The second answer.", delegations: [] };
    expect({ code: sent.code, last: sent.events.at(-1) }).toMatchObject({ code: 0, last: second });
  }, 60_000);

  test("fails with 1 where the model fails, and says why", async () => {
    const script = machine.writeScript("failing", {
      main: [{ error: { status: 401, message: "wrong key" } }],
    });
    const { code, events } = await machine.run("run", "x", "--script", script, "--json");
    expect(code).toBe(1);
    expect(resultOf(events)).toMatchObject({ status: "failed", error: { code: "PROVIDER_AUTH" } });
  }, 60_000);

  test("ends what the main agent left running, and tells it apart from what was done", async () => {
    const script = machine.writeScript("leaving", { ...hold, main: [hold.main[0], { text: "I am done." }] });
    const { code, events } = await machine.run("run", "x", "--script", script, "--json");
    expect(code).toBe(0);
    expect(resultOf(events)).toMatchObject({ status: "completed", delegations: [{ status: "aborted" }] });
  }, 60_000);

  test("goes on with another worker after its own was killed", async () => {
    const script = machine.writeScript("killed", {
      main: [
        { calls: [task({ agent: "explorer", task: "slow" })] },
        { calls: [waitForAll] },
        { text: "Survived." },
      ],
      agents: {
        explorer: [
          { calls: [{ tool: "Glob", input: { pattern: "*" } }] },
          { text: "found", delaySeconds: 3 },
        ],
      },
    });
    const command = machine.start("run", "x", "--script", script, "--json");
    await waitUntil(() => command.events().some(({ type }) => type === "delegation"), 60_000);
    // Both runs are on file: a worker that is killed before has nothing to hand back, and the server must notice it by itself.
    await waitUntil(() => countRunRecords(String(command.events()[0]?.session)) >= 2);
    const queue = String(command.events()[0]?.taskQueue);
    const [pid] = listProcesses(`--task-queue ${queue}`);
    process.kill(pid ?? 0, "SIGKILL");
    const { code, events } = await command.result;
    expect(code).toBe(0);
    expect(resultOf(events)).toMatchObject({
      answer: "Survived.",
      delegations: [{ status: "completed", report: "found" }],
    });
    expect(events).toContainEqual({
      type: "note",
      message: expect.stringContaining("the worker has died (SIGKILL"),
    });
    expect(listProcesses(`--task-queue ${queue}`)).toEqual([]);
  }, 90_000);
});

describe("an interruption", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "by %s aborts the turn and its delegates, keeps what they had, and exits with 130",
    async (signal) => {
      const { command, session } = await startHolding(`hold-${signal}`);
      command.child.kill(signal);
      const { code, events } = await command.result;
      expect(code).toBe(130);
      const [delegation] = resultOf(events).delegations as JsonLine[];
      expect(delegation).toMatchObject({ status: "aborted", report: expect.stringMatching(/^as far/) });
      expect(resultOf(events)).toMatchObject({ session, status: "aborted" });
    },
    60_000,
  );

  test("a second time ends the command at once, and its worker with it", async () => {
    const { command, session } = await startHolding("hold-twice");
    command.child.kill("SIGINT");
    await waitUntil(() => command.stdout().includes("once more leaves at once"));
    command.child.kill("SIGINT");
    expect((await command.result).code).toBe(130);
    await waitUntil(() => listProcesses(`subagents-${session}`).length === 0, 30_000);
  }, 60_000);

  test("that kills the command leaves no worker behind", async () => {
    const { command, session } = await startHolding("hold-killed");
    command.child.kill("SIGKILL");
    await command.result;
    await waitUntil(() => listProcesses(`subagents-${session}`).length === 0, 30_000);
  }, 60_000);
});

describe("a detached run", () => {
  test("goes on by itself, can be seen, waited for and stopped from outside, and its worker ends when it is at rest", async () => {
    const script = machine.writeScript("detached", hold);
    const started = await machine.run("run", "hold", "--script", script, "--detach");
    const session = started.stdout.trim();
    expect({ code: started.code, session }).toEqual({
      code: 0,
      session: expect.stringMatching(/^session-\w+$/),
    });
    const see = async () => (await machine.run("show", session, "--json")).events[0];
    await waitUntil(
      async () => JSON.stringify((await see())?.delegations).includes("waiting for the model"),
      60_000,
    );

    const waited = await machine.run("wait", session, "task-1", "zzz", "--timeout", "1");
    expect(waited).toMatchObject({ code: 3, stdout: expect.stringContaining("This is not a failure") });
    expect(waited.stdout).toContain('Unknown delegation id: "zzz"');
    expect((await machine.run("send", session, "x")).stderr).toContain("turn 1 is still running");

    const stopped = await machine.run("stop", session, "task-1", "--json");
    expect(stopped).toMatchObject({
      code: 0,
      events: [{ type: "stop", delegationId: "task-1", outcome: "stopped" }],
    });
    await waitUntil(async () => JSON.stringify((await see())?.turns).includes("Never said."), 30_000);
    await waitUntil(() => listProcesses(`subagents-${session}`).length === 0, 30_000);
    const done = await machine.run("wait", session, "task-1");
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("as far as it came") });
  }, 180_000);
});

describe("a session's life", () => {
  test("ends with stop: it is listed, can be read, and takes nothing more", async () => {
    const script = machine.writeScript("life", { main: [{ text: "Hello." }] });
    const { events } = await machine.run("run", "greet me", "--script", script, "--json");
    const session = String(resultOf(events).session);
    const list = async () =>
      (await machine.run("sessions", "--json")).events.find((each) => each.session === session);
    expect(await list()).toMatchObject({ status: "open", prompt: "greet me", workspace: machine.workspace });
    expect(await machine.run("stop", session)).toMatchObject({ code: 0, stdout: `${session} is closed.\n` });
    await waitUntil(async () => (await list())?.status === "closed");
    expect(await machine.run("send", session, "x", "--json")).toMatchObject({
      code: 2,
      events: [{ type: "error", code: "Session.Closed" }],
    });
    expect(await machine.run("stop", session)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("closed already"),
    });
    const shown = await machine.run("show", session);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello.") });
    expect(await machine.run("show", session, "task-1", "--json")).toMatchObject({
      code: 2,
      events: [{ code: "Delegation.Unknown" }],
    });
  }, 120_000);

  test("is a clear mistake where there is none: exit code 2, for every command", async () => {
    for (const words of [
      ["show", "nope"],
      ["stop", "nope"],
      ["wait", "nope"],
      ["send", "nope", "x"],
      ["show", ""],
    ]) {
      const { code, events } = await machine.run(...words, "--json");
      expect({ words, code, events }).toMatchObject({
        code: 2,
        events: [{ type: "error", code: "Session.NotFound" }],
      });
    }
  }, 60_000);
});
