// `show` and `sessions`: real processes, dev server, workers and tools; only a model's words are scripted.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createMachine, type JsonLine, listProcesses, type Machine } from "./cli-process.ts";
import { compareFields, readFieldTable, type Told, toTold } from "./show-fields.ts";
import { waitUntil } from "./wait-until.ts";

let machine: Machine;

beforeAll(async () => {
  machine = await createMachine();
  writeFileSync(path.join(machine.workspace, "a.txt"), "hello\n");
  await machine.startReady("dev");
}, 180_000);

afterAll(async () => {
  await machine?.end();
}, 60_000);

async function showJson(...words: string[]): Promise<JsonLine> {
  const { events, stderr } = await machine.run("show", ...words, "--json");
  const [event] = events;
  if (event === undefined) throw new Error(`nothing was shown: ${stderr}`);
  return event;
}

const kindsOf = (event: JsonLine) => (event.timeline as { kind: string }[]).map(({ kind }) => kind);

const long = "line of a long report\n".repeat(200);
const script = {
  main: [
    {
      calls: [
        {
          tool: "Task",
          input: {
            agent: "fixer",
            task: `do all of it\n${"and more\n".repeat(50)}`,
            description: "does \u001b[2J it",
          },
        },
      ],
    },
    { calls: [{ tool: "TaskWait", input: {} }] },
    { text: "All done." },
  ],
  agents: {
    fixer: [
      { calls: [{ tool: "Read", input: { path: "a.txt" } }] },
      { calls: [{ tool: "Read", input: { path: "missing.txt" } }] },
      { calls: [{ tool: "Bash", input: { command: "true" } }] },
      { text: long, error: { status: 529, message: "overloaded", times: 1 } },
    ],
  },
};

describe("show", () => {
  let session: string;
  const told: Told[] = [];

  beforeAll(async () => {
    const file = machine.writeScript("show", script);
    const { events } = await machine.run("run", "do it all", "--script", file, "--json");
    session = String(events[0]?.session);
    expect(events.at(-1)).toMatchObject({ type: "result", status: "completed" });
  }, 120_000);

  test("tells a session in the order of time, and starts no worker for it", async () => {
    const shown = await machine.run("show", session);
    expect({ code: shown.code, stderr: shown.stderr }).toEqual({ code: 0, stderr: "" });
    expect(listProcesses(`worker --json --task-queue subagents-${session}`)).toEqual([]);
    expect(shown.stdout).toMatch(/ \+0\.0 s {2}\d\d:\d\d:\d\d {2}session began\n/);
    const order = [
      "message 1: do it all",
      "task-1 fixer begins: does \\x1b[2J it",
      "task-1 fixer completed after",
      "turn 1 completed after",
    ];
    const places = order.map((text) => shown.stdout.indexOf(text));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places.toSorted((one, other) => one - other)).toEqual(places);
    expect(shown.stdout).toContain("All done.");
    expect(kindsOf(await showJson(session))).toEqual([
      "began",
      "message",
      "delegated",
      "delegate-ended",
      "turn-ended",
    ]);
  }, 60_000);

  test("tells of a delegation what it was asked, each call with its end and its time, and its report", async () => {
    const { stdout } = await machine.run("show", session, "task-1");
    expect(stdout).toContain("It was asked:\ndo all of it\nand more\n");
    expect(stdout).toMatch(/Read a\.txt · ok, \d+ ms\n/);
    expect(stdout).toMatch(/Read missing\.txt · error, \d+ ms\n/);
    expect(stdout).toMatch(/Bash true · denied\n/);
    expect(stdout).toMatch(/the provider failed \(PROVIDER_OVERLOADED\); try 2 after/);
    expect(stdout).toMatch(/Tools: Read 2 \(\d+ ms, 1 error\) · Bash 1 \(0 ms, 1 denied\)/);
    expect(stdout).toContain("Not allowed, so not done:\n- Bash true");
    expect(stdout).toContain("line of a long report\nline of");
    const event = await showJson(session, "task-1");
    expect(event).toMatchObject({
      type: "delegation",
      id: "task-1",
      status: "completed",
      report: long.trim(),
      transcript: "here",
      calls: [
        { tool: "Read", target: "a.txt", outcome: "ok", durationMs: expect.any(Number) },
        { tool: "Read", target: "missing.txt", outcome: "error" },
        { tool: "Bash", target: "true", outcome: "denied" },
      ],
      attemptList: [{ attempt: 1, worker: expect.stringMatching(/^\d+@/) }],
    });
    expect(String(event.task)).toMatch(/^do all of it\n(and more\n)+$/);
  }, 60_000);

  test("tells of the main agent what each of its turns did", async () => {
    const { stdout } = await machine.run("show", session, "turn-1");
    expect(stdout).toMatch(/^turn 1 · completed · .*\ndo it all\n/);
    expect(stdout).toMatch(/TaskWait · ok, /);
    expect((await showJson(session, "main")).calls).toMatchObject([{ tool: "Task" }, { tool: "TaskWait" }]);
    const unknown = await machine.run("show", session, "turn-7", "--json");
    expect(unknown).toMatchObject({ code: 2, events: [{ code: "Turn.Unknown" }] });
  }, 60_000);

  test("shows a transcript on demand, bounded for people and whole for programs", async () => {
    const { stdout } = await machine.run("show", session, "task-1", "--transcript");
    expect(stdout).toMatch(/=== task-1, attempt 1, worker \d+@/);
    expect(stdout).toMatch(/\[call [\w-]+\] Read \{"path":"a\.txt"\}/);
    expect(stdout).toMatch(/\[\d+ characters left out; --full shows all\]/);
    const full = await machine.run("show", session, "task-1", "--transcript", "--full");
    expect(full.stdout).toContain(long);
    const { events } = await machine.run("show", session, "task-1", "--transcript", "--json");
    expect(events.every(({ type }) => type === "transcript")).toBe(true);
    expect(events.findLast(({ item }) => item === "assistant")).toMatchObject({ text: long });
    const elsewhere = await machine.run("show", session, "task-9", "--transcript", "--json");
    expect(elsewhere).toMatchObject({ code: 2, events: [{ code: "Transcript.NotHere" }] });
    expect(await machine.run("show", session, "--transcript")).toMatchObject({ code: 2 });
  }, 60_000);

  test("names the worker that was lost and the attempt that goes on, while it runs and afterwards", async () => {
    const words = "as far as it came";
    const held = {
      main: [{ text: words, silence: { afterCharacters: 4, seconds: 3600 } }],
    };
    const file = machine.writeScript("lost", held);
    const first = machine.start("worker", "--task-queue", "lost", "--json");
    await waitUntil(() => first.events().some(({ type }) => type === "ready"), 60_000);
    const run = machine.start("run", "hold on", "--script", file, "--task-queue", "lost", "--json");
    await waitUntil(() => run.events().some(({ type }) => type === "turn"), 60_000);
    const held1 = String(run.events()[0]?.session);
    await waitUntil(
      async () => /waiting for the model/.test(String((await showJson(held1)).activity)),
      60_000,
    );
    run.child.kill("SIGKILL");
    first.child.kill("SIGKILL");
    await first.result;
    await waitUntil(async () => /worker lost since/.test(String((await showJson(held1)).activity)), 60_000);
    const lost = await machine.run("show", held1);
    expect(lost.stdout).toContain("subagents worker --task-queue lost carries it on");

    machine.start("worker", "--task-queue", "lost", "--json");
    await waitUntil(async () => kindsOf(await showJson(held1)).includes("attempt"), 60_000);
    expect((await machine.run("show", held1)).stdout).toMatch(
      new RegExp(
        `main: attempt 2 begins; the one before ended: worker ${first.child.pid}@\\S+ was lost; last event at`,
      ),
    );
    expect(await machine.run("stop", held1)).toMatchObject({ code: 0 });
    told.push(...toTold(await showJson(held1)), ...toTold(await showJson(held1, "main")));
  }, 240_000);

  test("writes for programs what the manual's table says, and every moment alike", async () => {
    const transcript = await machine.run("show", session, "task-1", "--transcript", "--json");
    told.push(...transcript.events.flatMap(toTold));
    for (const what of ["task-1", "main"]) told.push(...toTold(await showJson(session, what)));
    expect(await machine.run("stop", session)).toMatchObject({ code: 0 });
    const ended = await showJson(session);
    told.push(...toTold(ended));
    const table = readFieldTable();
    expect(told.flatMap((each) => compareFields(each, table))).toEqual([]);
    const seen = new Set(told.map(({ row }) => row));
    const rare = [
      "asked",
      "answered",
      "stop-requested",
      "mode",
      "cancel-requested",
      "fault",
      "item tool-start",
      "item damaged",
    ];
    expect([...table.keys()].filter((row) => !seen.has(row))).toEqual(rare);
    expect(JSON.stringify(told)).not.toMatch(/"(at|since|until|\w+At)Ms":/);
    expect(ended.startedAt).toMatch(/^\d{4}-.*Z$/);
  }, 120_000);
});

describe("sessions", () => {
  test("are listed by what is asked for, and what is left out is counted", async () => {
    const file = machine.writeScript("list", { main: [{ text: "Hello." }, { text: "" }] });
    mkdirSync(path.join(machine.workspace, "below"));
    const begin = async (prompt: string, ...words: string[]) =>
      String((await machine.run("run", prompt, "--script", file, "--json", ...words)).events[0]?.session);
    const one = await begin("greet the FIRST one");
    const two = await begin("greet the second one", "--workspace", path.join(machine.workspace, "below"));
    await machine.run("send", one, "and say nothing", "--json");
    await machine.run("stop", two);
    const list = async (...words: string[]) =>
      (await machine.run("sessions", "--json", "--text", "greet the", ...words)).events;
    const ids = async (...words: string[]) => (await list(...words)).map(({ session }) => session);
    await waitUntil(async () => (await ids("--open")).length === 1);
    expect(await ids()).toEqual([two, one]);
    expect(await ids("--open")).toEqual([one]);
    expect(await ids("--status", "closed")).toEqual([two]);
    expect(await ids("--status", "failed")).toEqual([one]);
    expect(await ids("--status", "completed,terminated")).toEqual([two]);
    expect(await ids("--text", "first")).toEqual([one]);
    expect(await ids("--workspace", path.join(machine.workspace, "below"))).toEqual([two]);
    expect(await ids("--workspace", machine.workspace, "--task-queue", `subagents-${one}`)).toEqual([one]);
    expect(await ids("--agent", "Fixer")).toEqual([]);
    expect(await ids("--since", "1h", "--until", "2h")).toEqual([]);
    expect(await ids("--since", "1h")).toEqual([two, one]);
    expect(await list("--limit", "1")).toMatchObject([
      { type: "session", session: two, turn: { number: 1, status: "completed" } },
      { type: "more", more: 1 },
    ]);
    expect((await machine.run("sessions", "--limit", "1")).stdout).toMatch(/and \d+ more: raise --limit/);
    expect((await machine.run("sessions", "--agent", "fixer", "--json")).events).toHaveLength(1);
  }, 240_000);
});
