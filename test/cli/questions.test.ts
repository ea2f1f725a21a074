// Questions without a terminal: real processes, dev server, workers and tools; only a model's words are scripted.
import { existsSync, readFileSync } from "node:fs";
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
/** What a failed test must not leave running. */
const started: RunningCommand[] = [];

beforeAll(async () => {
  machine = await createMachine();
  server = await machine.startReady("dev");
}, 180_000);

afterAll(async () => {
  for (const { child } of started) child.kill("SIGKILL");
  server.child.kill("SIGTERM");
  await server.result;
}, 60_000);

const bash = (command: string) => ({ tool: "Bash", input: { command } });
const asking = (file: string, answer: string) => ({
  main: [
    { calls: [{ tool: "Task", input: { agent: "fixer", task: "write" } }] },
    { calls: [{ tool: "TaskWait", input: {} }] },
    { text: answer },
  ],
  agents: { fixer: [{ calls: [bash(`echo yes > ${file}`)] }, { text: "written" }] },
});
const read = (name: string) => readFileSync(path.join(machine.workspace, name), "utf8");
const questionsOf = (command: RunningCommand) => command.events().filter(({ type }) => type === "question");

async function startAsking(
  name: string,
): Promise<{ command: RunningCommand; question: JsonLine; session: string }> {
  const script = machine.writeScript(name, asking(`${name}.txt`, "Done."));
  const command = machine.start("run", "go", "--script", script, "--questions", "wait", "--json");
  started.push(command);
  await waitUntil(() => questionsOf(command).length > 0, 90_000);
  const [question] = questionsOf(command);
  if (question === undefined) throw new Error("nothing was asked");
  return { command, question, session: String(question.session) };
}

describe("a question without a terminal", () => {
  test("survives the worker and the command that are killed, is answered by approve, and the work ends", async () => {
    const { command, question, session } = await startAsking("survives");
    expect(question).toMatchObject({
      id: "q-1",
      state: "open",
      delegate: "task-1",
      agent: "fixer",
      tool: "Bash",
      target: "echo yes > survives.txt",
      approve: `subagents approve ${session} q-1`,
    });
    const queue = String(command.events()[0]?.taskQueue);
    const pids = listProcesses(`--task-queue ${queue}`);
    expect(pids).toHaveLength(1);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    command.child.kill("SIGKILL");
    await command.result;
    await waitUntil(() => listProcesses(`--task-queue ${queue}`).length === 0, 30_000);
    expect(existsSync(path.join(machine.workspace, "survives.txt"))).toBe(false);

    const worker = machine.start("worker", "--task-queue", queue, "--json");
    started.push(worker);
    await waitUntil(() => worker.events().some(({ type }) => type === "ready"), 60_000);
    const listed = await machine.run("sessions", "--json");
    expect(listed.events.find((each) => each.session === session)).toMatchObject({ openQuestions: 1 });
    expect((await machine.run("show", session)).stdout).toContain(`subagents approve ${session} q-1`);
    expect(await machine.run("approve", session, "q-9", "--json")).toMatchObject({
      code: 2,
      events: [
        { code: "Permission.UnknownQuestion", message: expect.stringContaining("Open questions: q-1") },
      ],
    });
    const approved = await machine.run("approve", session, "q-1");
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining("allowed by ") });
    const watched = await machine.run("watch", session, "--until-settled", "--json");
    expect(watched).toMatchObject({
      code: 0,
      events: expect.arrayContaining([{ type: "end", session, status: "open" }]),
    });
    expect(read("survives.txt")).toBe("yes\n");
    const shown = await machine.run("show", session, "--json");
    expect(shown.events[0]).toMatchObject({
      turns: [{ status: "completed", answer: "Done." }],
      delegations: [{ status: "completed", denials: [] }],
    });
    expect((await machine.run("show", session, "task-1")).stdout).toContain("written");
    const again = await machine.run("approve", session, "q-1");
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing has changed") });
    const late = await machine.run("deny", session, "q-1", "--reason", "too late");
    expect(late).toMatchObject({ code: 1, stdout: expect.stringContaining("allowed by ") });
    worker.child.kill("SIGTERM");
    await worker.result;
  }, 240_000);

  test("is denied with a reason that the agent is told, or answered by a change of the mode", async () => {
    const denied = await startAsking("denied");
    expect(await machine.run("deny", denied.session, "q-1", "--reason", "not on a Friday")).toMatchObject({
      code: 0,
    });
    const { code, events } = await denied.command.result;
    expect(code).toBe(0);
    expect(events.at(-1)?.delegations).toMatchObject([
      { denials: [{ tool: "Bash", reason: expect.stringMatching(/denied it: not on a Friday$/) }] },
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: "question", id: "q-1", state: "denied" }));

    const free = await startAsking("free");
    expect(await machine.run("mode", free.session, "auto")).toMatchObject({
      code: 0,
      stdout: `The permission mode of ${free.session} is auto.\n`,
    });
    expect((await free.command.result).code).toBe(0);
    expect(read("free.txt")).toBe("yes\n");
    const told = questionsOf(free.command).at(-1);
    expect(told).toMatchObject({ state: "allowed", by: "mode auto" });
  }, 240_000);

  test("is not asked where nobody would answer: the agent is told so", async () => {
    const script = machine.writeScript("mute", asking("mute.txt", "Done."));
    const { code, events } = await machine.run("run", "go", "--script", script, "--json");
    expect(code).toBe(0);
    expect(events.filter(({ type }) => type === "question")).toEqual([]);
    expect(events.at(-1)?.delegations).toMatchObject([
      { denials: [{ reason: expect.stringContaining("nobody is there to give it") }] },
    ]);
  }, 120_000);
});
