// `subagents doctor`: what sessions need, what is odd about it and what to do; nothing is started or changed.
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { createMachine, type Machine } from "./cli-process.ts";
import { findCheck } from "./doctor-check.ts";

let machine: Machine;
beforeEach(async () => {
  machine = await createMachine();
});

const doctor = async (...words: string[]) => await machine.run("doctor", "--json", ...words);

describe("without a server", () => {
  test("a host that has what is needed is well, and nothing is started or written", async () => {
    Object.assign(machine.environment, { ANTHROPIC_API_KEY: "sk-ant-secret" });
    const found = await doctor();
    expect(found.events.filter(({ level }) => level === "problem")).toEqual([]);
    expect(found).toMatchObject({ code: 0, stderr: "" });
    const checks = [
      "server",
      "temporal program",
      "state folder",
      "node",
      "temporal sdk",
      "git",
      "ripgrep",
      "processes",
    ];
    for (const check of [...checks, "workspace", "definitions", "model"]) {
      expect(findCheck(found, check)).toMatchObject({ type: "check", level: "ok" });
    }
    expect(findCheck(found, "server")?.text).toContain("none is configured and none runs");
    expect(findCheck(found, "model")?.text).toContain("ANTHROPIC_API_KEY");
    expect(found.events.at(-1)).toMatchObject({ type: "result", problems: 0, exitCode: 0 });
    expect(found.stdout).not.toContain("secret");
    expect(await readdir(machine.folder)).toEqual([path.basename(machine.workspace)]);
  });

  test("people read a line a check, with what to do below it", async () => {
    const { stdout, code } = await machine.run("doctor", "--workspace", path.join(machine.folder, "none"));
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^PROBLEM {2}workspace {11}\S+ is no folder\n {9}-> name one that exists by --workspace$/m,
    );
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^1 problem, \d warnings?\.$/);
  });

  test("a model must be known and have its key; no key's value is shown", async () => {
    expect(findCheck(await doctor("--model", "anthropic/no-such"), "model")).toMatchObject({
      level: "problem",
    });
    const keyless = findCheck(await doctor("--model", "anthropic/claude-sonnet-4-5"), "model");
    expect(keyless).toMatchObject({ level: "problem", advice: expect.stringContaining("ANTHROPIC_API_KEY") });
    Object.assign(machine.environment, { ANTHROPIC_API_KEY: "sk-ant-secret" });
    const found = await doctor("--model", "anthropic/claude-sonnet-4-5");
    expect(findCheck(found, "model")).toMatchObject({
      level: "ok",
      text: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(found.stdout).not.toContain("secret");
  });

  test("definitions that are refused are a warning", async () => {
    const agents = path.join(machine.folder, "agents");
    await mkdir(agents);
    await writeFile(path.join(agents, "bad.md"), "---\nname: bad\ntools: [\n---\nWork.");
    const finding = findCheck(await doctor("--agents", agents), "definitions");
    expect(finding).toMatchObject({ level: "warning", text: expect.stringContaining("1 refused") });
  });

  test("a state folder that is none is a problem", async () => {
    await writeFile(path.join(machine.folder, "file"), "");
    for (const place of ["file", "file/deeper"]) {
      machine.environment.XDG_STATE_HOME = path.join(machine.folder, place);
      const file = path.join(machine.folder, "file");
      expect(findCheck(await doctor(), "state folder")).toMatchObject({
        level: "problem",
        text: `${file} is a file, where a folder is needed for ${machine.folder}/${place}/subagents`,
        advice: `move ${file} away, or set XDG_STATE_HOME to another folder`,
      });
    }
  });

  test("a state folder that others may write to is a warning", async () => {
    const root = path.join(machine.folder, "state", "subagents");
    await mkdir(root, { recursive: true });
    await chmod(root, 0o777);
    const { events } = await doctor();
    expect(events).toContainEqual(
      expect.objectContaining({
        check: "state folder",
        level: "warning",
        advice: expect.stringContaining("chmod go-w"),
      }),
    );
  });

  test("what workers and fetches that are gone left behind is counted, and left where it is", async () => {
    const root = path.join(machine.folder, "state", "subagents");
    await mkdir(path.join(root, "workers"), { recursive: true });
    const record = path.join(root, "workers", "1-x.json");
    await writeFile(record, JSON.stringify({ pid: 1, startTime: "long ago", host: "here" }));
    expect(findCheck(await doctor(), "leftovers")?.text).toContain("1 of workers that are gone");
    expect(await readdir(path.join(root, "workers"))).toEqual(["1-x.json"]);
  });

  test.each([
    [{ SUBAGENTS_SERVER_PORT: "seven" }, /SUBAGENTS_SERVER_PORT is "seven"/],
    [{ TEMPORAL_API_KEY: "secret-key" }, /no address/],
    [{ TEMPORAL_PROFILE: "nowhere" }, /nowhere/],
  ])("%j is a problem of the server's configuration", async (variables, text) => {
    Object.assign(machine.environment, variables);
    const found = await doctor();
    expect(found.code).toBe(1);
    expect(findCheck(found, "server")).toMatchObject({ level: "problem", text: expect.stringMatching(text) });
    expect(found.stdout).not.toContain("secret-key");
  });

  test.each([
    [{ SUBAGENTS_IDLE_TIMEOUT_SECONDS: "5" }, "problem", 1, /SUBAGENTS_IDLE_TIMEOUT_SECONDS is "5"/],
    [{ OTEL_TRACES_EXPORTER: "carrier-pigeon" }, "problem", 1, /OTEL_TRACES_EXPORTER is "carrier-pigeon"/],
    [{ SUBAGENTS_IDLE_TIMEOUT_SECONDS: "900" }, "warning", 0, /is 900: a delegate that hangs/],
    [{}, "ok", 0, /can be understood/],
  ] as const)(
    "%j in the environment is told as commands would take it",
    async (variables, level, code, text) => {
      Object.assign(machine.environment, variables);
      const found = await doctor();
      expect(findCheck(found, "environment")).toMatchObject({ level, text: expect.stringMatching(text) });
      expect(found.code).toBe(code);
    },
  );

  test("a mistake in the call is said, and nothing is looked at", async () => {
    const { code, events } = await doctor("--model", "nonsense");
    expect(code).toBe(2);
    expect(events).toMatchObject([{ type: "error", code: "Usage.Model" }]);
  });

  test("an address where nobody listens is told from one that accepts and never answers, both in seconds", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    const { port } = silent.address() as AddressInfo;
    const startedAt = Date.now();
    const [dead, hanging] = await Promise.all([
      doctor("--address", "127.0.0.1:9"),
      doctor("--address", `127.0.0.1:${port}`),
    ]);
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    expect(dead.code).toBe(1);
    expect(findCheck(dead, "server")).toMatchObject({
      level: "problem",
      text: expect.stringContaining("nothing listens there"),
    });
    expect(hanging.code).toBe(1);
    expect(findCheck(hanging, "server")?.text).toContain("accepts connections, and answers nothing");
    expect(findCheck(hanging, "node")).toMatchObject({ level: "ok" });
    // Where it was not asked for by name, the dev server would take another port.
    machine.environment.SUBAGENTS_SERVER_PORT = `${port}`;
    const unasked = await doctor();
    expect(unasked.code).toBe(0);
    expect(findCheck(unasked, "server")).toMatchObject({ level: "warning" });
    silent.close();
  });
});

test("a folder that its user may not write to is a problem", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "doctor-"));
  await chmod(folder, 0o555);
  const main = fileURLToPath(new URL("../../client/cli/main.ts", import.meta.url));
  const words = [process.execPath, main, "doctor", "--json", "--workspace", folder];
  // Root may write anywhere: here without that right.
  const right = "-dac_override,-dac_read_search";
  const asRoot = ["setpriv", `--bounding-set=${right}`, `--inh-caps=${right}`, ...words];
  const [program = "", ...args] = process.getuid?.() === 0 ? asRoot : words;
  const child = spawn(program, args, {
    env: { ...machine.environment, HOME: folder, XDG_STATE_HOME: path.join(folder, "state") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  await rm(folder, { recursive: true });
  expect(stdout).toMatch(/"check":"state folder","level":"problem","text":"[^"]*can't be written/);
  expect(stdout).toMatch(/"check":"workspace","level":"warning","text":"[^"]*can't be written/);
  expect(code).toBe(1);
});
