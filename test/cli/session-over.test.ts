// Sessions that end from outside while they are followed: real processes, dev server, worker and tools; only a model's words are scripted.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client, Connection } from "@temporalio/client";
import { createMachine, type JsonLine, type Machine, type RunningCommand } from "./cli-process.ts";
import { waitUntil } from "./wait-until.ts";

let machine: Machine;
let client: Client;

beforeAll(async () => {
  machine = await createMachine();
  writeFileSync(path.join(machine.workspace, "a.txt"), "hello\n");
  const server = await machine.startReady("dev");
  const address = String(server.events()[0]?.address);
  client = new Client({ connection: await Connection.connect({ address }) });
}, 180_000);

afterAll(async () => {
  await client?.connection.close();
  await machine?.end();
}, 60_000);

/** One delegate that ends at once and one that is silent for ever once it has said its first words. */
const script = {
  main: [
    {
      calls: [
        { tool: "Task", input: { agent: "explorer", task: "quick A", description: "the short look" } },
        { tool: "Task", input: { agent: "explorer", task: "hold", description: "the long look" } },
      ],
    },
    { calls: [{ tool: "TaskWait", input: {} }] },
    { text: "Never said." },
  ],
  agents: {
    explorer: [
      {
        when: "quick",
        steps: [{ calls: [{ tool: "Read", input: { path: "a.txt" } }] }, { text: "A is fine" }],
      },
      { steps: [{ text: "as far as it came", silence: { afterCharacters: 17 } }] },
    ],
  },
};

async function startHolding(...words: string[]): Promise<{ command: RunningCommand; session: string }> {
  const command = machine.start(
    "run",
    "look",
    "--script",
    machine.writeScript("over", script),
    "--json",
    ...words,
  );
  const isSeen = (id: string, status: string) =>
    command
      .events()
      .some((event) => event.type === "delegation" && event.id === id && event.status === status);
  await waitUntil(() => isSeen("task-1", "completed") && isSeen("task-2", "running"), 60_000);
  return { command, session: String(command.events()[0]?.session) };
}

const completed = { id: "task-1", status: "completed", report: "A is fine", turns: 2, toolCalls: 1 };

describe("a session that is terminated from outside", () => {
  test("ends run honestly: what had completed is reported, and what still ran is told as it ended", async () => {
    const { command, session } = await startHolding();
    const watch = machine.start("watch", session, "--json");
    const wait = machine.start("wait", session, "--json");
    await waitUntil(
      () => watch.events().some(({ id, saying }) => id === "task-2" && saying === "as far as it came"),
      30_000,
    );
    await client.workflow.getHandle(session).terminate("cleaning up");
    const { code, events } = await command.result;
    expect(code).toBe(1);
    expect(events.at(-1)).toMatchObject({
      type: "result",
      status: "failed",
      error: { code: "TERMINATED", message: expect.stringContaining("cleaning up") },
      delegations: [completed, { id: "task-2", status: "stopped", report: "as far as it came" }],
    });
    expect((await watch.result).events.at(-1)).toEqual({ type: "end", session, status: "terminated" });
    const waited = await wait.result;
    expect(waited.code).toBe(0);
    expect(waited.events.filter(({ type }) => type === "delegation")).toMatchObject([
      completed,
      { id: "task-2", status: "stopped" },
    ]);
    const shown = (await machine.run("show", session, "--json")).events[0];
    expect(shown).toMatchObject({
      status: "terminated",
      turns: [{ status: "failed", error: { code: "TERMINATED" } }],
      delegations: [
        { ...completed, report: "" },
        { id: "task-2", status: "stopped" },
      ],
    });
    const again = await machine.run("wait", session, "task-1", "--json");
    expect(again).toMatchObject({ code: 0, events: [completed, { type: "wait", isTimedOut: false }] });
  }, 240_000);
});

describe("a session that is deleted from outside", () => {
  test("takes no reports of its delegates with it", async () => {
    const { command, session } = await startHolding();
    await client.workflowService.deleteWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: session },
    });
    const { code, events, stderr } = await command.result;
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(events.at(-1)).toMatchObject({
      type: "result",
      status: "failed",
      error: { code: "TERMINATED", message: expect.stringContaining("deleted") },
      delegations: [completed, { id: "task-2" }] satisfies Partial<JsonLine>[],
    });
  }, 240_000);
});
