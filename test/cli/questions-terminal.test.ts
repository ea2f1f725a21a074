// Questions at a real terminal: real processes, dev server, worker and tools; only a model's words are scripted.
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createMachine, type JsonLine, type Machine } from "./cli-process.ts";
import { endTerminals, startAtTerminal, type TerminalCommand } from "./terminal-process.ts";
import { waitUntil } from "./wait-until.ts";

let machine: Machine;

beforeAll(async () => {
  machine = await createMachine();
  await machine.startReady("dev");
}, 180_000);

afterAll(async () => {
  endTerminals();
  await machine?.end();
}, 60_000);

const KEYS = "y allow · s allow for this session · n deny";
const bash = (command: string) => ({ tool: "Bash", input: { command } });
const task = (text: string) => ({ tool: "Task", input: { agent: "fixer", task: text, description: text } });
const waitForAll = { calls: [{ tool: "TaskWait", input: {} }] };
const read = (name: string) => readFileSync(path.join(machine.workspace, name), "utf8");
const sessionOn = (terminal: TerminalCommand) => /session-\w+/.exec(terminal.screen())?.[0] ?? "";

function toStates(session: JsonLine | undefined): Record<string, unknown> {
  const questions = (session?.questions ?? []) as JsonLine[];
  return Object.fromEntries(questions.map(({ id, state }) => [id, state]));
}

/** Wait until a question can be answered. */
async function waitForQuestion(terminal: TerminalCommand, id: string): Promise<void> {
  await waitUntil(
    () => terminal.screen().includes(`${id}: `) && terminal.screen().includes(KEYS),
    60_000,
  ).catch(() => {
    throw new Error(`${id} was not asked; the screen:\n${terminal.screen()}`);
  });
}

describe("a question at a terminal", () => {
  test("is answered by one key: s for the session, n with a reason, y; two that ask at once are taken in order", async () => {
    const script = machine.writeScript("ask", {
      main: [
        { calls: [task("A"), task("B")] },
        waitForAll,
        { calls: [{ tool: "Write", input: { path: "main.txt", content: "main \u001b[2J" } }] },
        { text: "All is done." },
      ],
      agents: {
        fixer: [
          {
            when: "A",
            steps: [
              { calls: [bash("echo a >> a.txt")] },
              { calls: [bash("echo a >> a.txt")] },
              { text: "A is done" },
            ],
          },
          { steps: [{ calls: [bash("echo b > b.txt")], delaySeconds: 2 }, { text: "B is done" }] },
        ],
      },
    });
    const terminal = startAtTerminal(machine, "run", "go", "--script", script);
    await waitForQuestion(terminal, "q-1");
    // The second one waits meanwhile, and the screen goes on below and above.
    await terminal.waitFor("q-1: task-1 fixer asks to run Bash (1 of 2 questions)");
    expect(terminal.screen()).toContain("    echo a >> a.txt");
    terminal.type("s");
    await waitForQuestion(terminal, "q-2");
    expect(terminal.screen()).toContain("q-1 task-1 fixer: allowed by ");
    terminal.type("n");
    await terminal.waitFor("reason (Enter sends it");
    terminal.type("not yes but ");
    terminal.type("no\u007f\u007fno, y");
    await terminal.waitFor("goes back): not yes but no, y▏");
    terminal.type("\r");
    await waitForQuestion(terminal, "q-3");
    expect(terminal.screen()).toContain("q-3: the main agent asks to run Write");
    expect(terminal.screen()).toContain("main \\u001b[2J");
    terminal.type("y");
    expect(await terminal.code).toBe(0);
    const screen = terminal.screen();
    expect(screen).toContain("All is done.");
    expect(screen).not.toContain(KEYS);
    expect(screen).not.toContain("asks to run");
    expect([read("a.txt"), read("main.txt")]).toEqual(["a\na\n", "main \u001b[2J"]);
    expect(() => read("b.txt")).toThrow("ENOENT");
    const { events } = await machine.run("show", sessionOn(terminal), "--json");
    expect(toStates(events[0])).toEqual({ "q-1": "allowed", "q-2": "denied", "q-3": "allowed" });
    expect(events[0]?.questions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: "q-1", by: expect.stringMatching(/^.+@.+$/) }),
        expect.objectContaining({ id: "q-2", answer: "not yes but no, y" }),
        expect.objectContaining({ id: "q-3", delegate: "main" }),
      ]),
    );
  }, 120_000);

  test("that is answered elsewhere leaves the screen, and Ctrl-C still aborts the turn", async () => {
    const script = machine.writeScript("elsewhere", {
      main: [{ calls: [task("A")] }, waitForAll, { text: "Never said." }],
      agents: { fixer: [{ calls: [bash("echo 1 > one.txt")] }, { calls: [bash("echo 2 > two.txt")] }] },
    });
    const terminal = startAtTerminal(machine, "run", "go", "--script", script);
    await waitForQuestion(terminal, "q-1");
    const session = sessionOn(terminal);
    expect(await machine.run("approve", session, "q-1")).toMatchObject({ code: 0 });
    await terminal.waitFor("q-1 was settled elsewhere: allowed by ");
    await waitForQuestion(terminal, "q-2");
    expect(terminal.screen()).not.toContain("q-1: task-1");
    terminal.type("n");
    await terminal.waitFor("reason (Enter sends it");
    terminal.type("because\u0003");
    expect(await terminal.code).toBe(130);
    const { events } = await machine.run("show", session, "--json");
    expect(events[0]).toMatchObject({ turns: [{ status: "aborted" }] });
    expect(toStates(events[0])).toEqual({ "q-1": "allowed", "q-2": "withdrawn" });
    expect(read("one.txt")).toBe("1\n");
    expect(() => read("two.txt")).toThrow("ENOENT");
  }, 120_000);
});
