// `watch` at a real terminal and in a pipe: real processes, dev server, workers and tools; only a model's words are scripted.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createMachine, listProcesses, type Machine } from "./cli-process.ts";
import { endTerminals, startAtTerminal } from "./terminal-process.ts";
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

const words = "as far as it came \u001b[2J";
const script = {
  main: [
    { calls: [{ tool: "Task", input: { agent: "explorer", task: "hold", description: "the long look" } }] },
    { calls: [{ tool: "TaskWait", input: {} }] },
    { text: "Never said." },
  ],
  agents: { explorer: [{ text: words, silence: { afterCharacters: words.length } }] },
};

test("watch shows the latest session as it is, sees its worker die and come back, and leaves it alone", async () => {
  const run = machine.start(
    "run",
    "hold",
    "--script",
    machine.writeScript("hold", script),
    "--json",
    "--task-queue",
    "w",
  );
  const terminal = startAtTerminal(machine, "watch");
  await waitUntil(() => run.events().some(({ type }) => type === "delegation"), 60_000);
  const session = String(run.events()[0]?.session);
  const watch = terminal.screen().includes(session) ? terminal : startAtTerminal(machine, "watch");
  await watch.waitFor(`${session} · open · permissions ask · hold`);
  await watch.waitFor("as far as it came \\x1b[2J");
  expect(watch.screen()).toMatch(
    /task-1 explorer · waiting for the model +\d+:\d\d +\d+s +0 +0 +0\s+the long look · as far as it came/,
  );

  // The worker goes with its command; nobody is left who could tell.
  run.child.kill("SIGKILL");
  for (const pid of listProcesses("worker --json --task-queue w")) process.kill(pid, "SIGKILL");
  await watch.waitFor("· worker lost since 2");
  await watch.waitFor("no worker answers: subagents worker --task-queue w");
  const piped = await machine.run("watch", session, "--json", "--until-settled", "--address", "127.0.0.1:1");
  expect(piped).toMatchObject({ code: 2, events: [{ type: "error" }] });

  machine.start("worker", "--task-queue", "w", "--json");
  await waitUntil(() => !watch.screen().includes("no worker answers"), 60_000);
  await watch.waitFor("waiting for the model");
  watch.type("\u0003");
  expect(await watch.code).toBe(130);
  const shown = (await machine.run("show", session, "--json")).events[0];
  expect(shown).toMatchObject({
    status: "open",
    turns: [{ status: "running" }],
    delegations: [{ status: "running" }],
  });

  const settling = machine.start("watch", session, "--json");
  await waitUntil(() => settling.events().some(({ id }) => id === "task-1"), 60_000);
  expect(await machine.run("stop", session)).toMatchObject({ code: 0 });
  const { code, events } = await settling.result;
  expect({ code, last: events.at(-1) }).toEqual({
    code: 0,
    last: { type: "end", session, status: "closed" },
  });
  expect(await machine.run("watch", "--json")).toMatchObject({
    code: 2,
    events: [{ code: "Session.NoneOpen" }],
  });
}, 240_000);

test("watch --until-settled ends where nothing runs, without a worker; watch in a pipe ends with its reader", async () => {
  const done = machine.writeScript("done", { main: [{ text: "All done." }] });
  const run = await machine.run("run", "say it", "--script", done, "--json");
  const session = String(run.events[0]?.session);
  const { code, events } = await machine.run("watch", session, "--until-settled", "--json");
  expect({ code, last: events.at(-1) }).toEqual({ code: 0, last: { type: "end", session, status: "open" } });
  expect(events).toContainEqual(
    expect.objectContaining({ type: "agent", id: "main", activity: "waits for a message; turn 1 completed" }),
  );

  const slow = { main: [{ text: "one two three four five six seven eight nine ten", tokensPerSecond: 0.5 }] };
  const talking = machine.start("run", "talk", "--script", machine.writeScript("slow", slow), "--json");
  await waitUntil(() => talking.events().some(({ type }) => type === "turn"), 60_000);
  const spoken = String(talking.events()[0]?.session);
  const left = machine.start("watch", spoken, "--json");
  await waitUntil(() => left.events().length > 0, 60_000);
  left.child.stdout?.destroy();
  expect((await left.result).code).toBe(0);
  talking.child.kill("SIGINT");
  expect((await talking.result).code).toBe(130);
}, 120_000);
