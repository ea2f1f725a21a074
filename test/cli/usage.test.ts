// Commands that need no server: what they refuse, and how they say so.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { createMachine, type Machine } from "./cli-process.ts";

let machine: Machine;

beforeAll(async () => {
  machine = await createMachine();
}, 120_000);

describe("a mistake in the call", () => {
  test.each([
    ["an unknown command", ["bogus"]],
    ["an unknown option", ["run", "x", "--bogus"]],
    ["two prompts, as of missing quotes", ["run", "fix", "it", "--script", "x"]],
    ["a mode that is none", ["run", "x", "--permission", "yolo"]],
    ["a missing argument", ["send", "session-1"]],
    ["no model", ["run", "x"]],
    ["no prompt", ["run", "--script", "x"]],
    ["a number out of bounds", ["wait", "session-1", "--timeout", "0"]],
    ["a count that is none", ["wait", "session-1", "--mode", "any", "--min", "many"]],
  ])(
    "ends with 2 and one line: %s",
    async (_, words) => {
      const [people, programs] = await Promise.all([machine.run(...words), machine.run(...words, "--json")]);
      expect(people).toMatchObject({ code: 2, stdout: "" });
      expect(people.stderr).not.toMatch(/\n\s+at /);
      expect(programs).toMatchObject({
        code: 2,
        stderr: "",
        events: [{ type: "error", code: expect.stringMatching(/^Usage\./) }],
      });
    },
    30_000,
  );

  test("shows a stack only to who asks for it", async () => {
    machine.environment.SUBAGENTS_DEBUG = "1";
    const { code, stderr } = await machine.run("run", "x");
    delete machine.environment.SUBAGENTS_DEBUG;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/\n\s+at /) });
  }, 30_000);

  test("is a variable out of bounds, named with its value before anything is started", async () => {
    machine.environment.SUBAGENTS_IDLE_TIMEOUT_SECONDS = "9";
    const script = machine.writeScript("any", { main: [{ text: "x" }] });
    const { code, stderr } = await machine.run("run", "x", "--script", script);
    delete machine.environment.SUBAGENTS_IDLE_TIMEOUT_SECONDS;
    expect(code).toBe(2);
    expect(stderr).toBe(
      'subagents: SUBAGENTS_IDLE_TIMEOUT_SECONDS is "9": write whole seconds from 10 to 21600\n',
    );
  }, 30_000);

  test("is a server that is configured and not there", async () => {
    const { code, events } = await machine.run("sessions", "--address", "127.0.0.1:1", "--json");
    expect({ code, events }).toMatchObject({
      code: 2,
      events: [{ type: "error", message: expect.stringContaining("127.0.0.1:1") }],
    });
  }, 60_000);

  test("is a dev server beside a configured one", async () => {
    machine.environment.TEMPORAL_ADDRESS = "temporal.example:7233";
    const { code, stderr } = await machine.run("dev");
    delete machine.environment.TEMPORAL_ADDRESS;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("temporal.example:7233") });
  }, 30_000);
});

describe("help", () => {
  test("is no mistake, and shows no option that is not for people", async () => {
    const { code, stdout, stderr } = await machine.run("worker", "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("--task-queue");
    expect(stdout).not.toMatch(/--owned|--until-idle/);
  }, 30_000);
});

describe("agents", () => {
  test("lists what is in force, as text and as one object", async () => {
    const people = await machine.run("agents");
    expect(people).toMatchObject({ code: 0, stderr: "" });
    for (const name of ["code-reviewer", "explorer", "fixer", "test-runner"])
      expect(people.stdout).toContain(name);
    const { code, events } = await machine.run("agents", "--json", "--strict");
    expect(code).toBe(0);
    const [{ definitions, problems } = {}] = events as { definitions?: object[]; problems?: object[] }[];
    expect(problems).toEqual([]);
    expect(definitions).toHaveLength(4);
    expect(Object.keys(definitions?.[0] ?? {})).toEqual([
      ...["name", "description", "tools", "permission", "model", "maxTurns"],
      ...["idleTimeoutSeconds", "maxDurationSeconds", "source", "file"],
    ]);
  }, 30_000);

  test("fails for a refused document only where that is asked for", async () => {
    const folder = path.join(machine.folder, "definitions");
    mkdirSync(folder);
    writeFileSync(path.join(folder, "odd.md"), "---\nname: odd\ndescription: odd\ntools: []\n---\nDo.\n");
    const flags = ["agents", "--agents", folder];
    const [lenient, strict] = await Promise.all([machine.run(...flags), machine.run(...flags, "--strict")]);
    expect(lenient).toMatchObject({ code: 0, stdout: expect.stringMatching(/error: .*odd\.md:4: tools: /) });
    expect(strict.code).toBe(1);
  }, 30_000);
});

test("compiled modules are kept in the state folder, unless Node is told not to", async () => {
  const other = await createMachine();
  const folder = path.join(other.folder, "state", "subagents", "cache", "compile");
  other.environment.NODE_DISABLE_COMPILE_CACHE = "1";
  expect((await other.run("agents")).code).toBe(0);
  expect(listFiles(folder)).toEqual([]);
  delete other.environment.NODE_DISABLE_COMPILE_CACHE;
  expect((await other.run("agents")).code).toBe(0);
  expect(listFiles(folder).length).toBeGreaterThan(10);
}, 30_000);

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}
