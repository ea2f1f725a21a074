// The example's story is true: what its scripted reports say is what the repository holds and its tests do. Real tools on a copy.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readScript, type Script, type ScriptStep } from "../../activities/models/script-format.ts";
import { toolsByName } from "../../activities/tools/index.ts";
import type { ToolContext } from "../../activities/tools/tool.ts";
import { delegationToolNames, type ToolName } from "../../core/tools.ts";
import { loadBuiltins } from "../support/definitions.ts";

const run = promisify(execFile);
const examples = fileURLToPath(new URL("../../examples", import.meta.url));
const order = ["explorer", "code-reviewer", "test-runner", "fixer"];

let script: Script;
let root: string;
let workspace: string;

beforeAll(async () => {
  const reading = await readScript(join(examples, "inventory.script.json"));
  if (reading.kind === "problem") throw new Error(reading.message);
  script = reading.script;
  root = await realpath(await mkdtemp(join(tmpdir(), "example-")));
  workspace = join(root, "inventory");
  await cp(join(examples, "inventory"), workspace, { recursive: true });
  for (const folder of ["scratch", "outputs", "ledger"]) await mkdir(join(root, folder));
});
afterAll(() => rm(root, { recursive: true }));

const toParts = (agent: string) =>
  (script.agents.get(agent) ?? []).map(({ when, steps }) => ({ when, steps }));
const toCalls = (steps: readonly ScriptStep[]) => steps.flatMap(({ calls = [] }) => calls);
const toTasks = () => toCalls(script.main ?? []).filter(({ tool }) => tool === "Task");

function toContext(callId: string): ToolContext {
  const places = {
    scratch: join(root, "scratch"),
    outputs: join(root, "outputs"),
    ledger: join(root, "ledger"),
  };
  return {
    workspace,
    ...places,
    actor: "task-1",
    runMarker: `example-${process.pid}`,
    maxSeconds: 60,
    callId,
  };
}

async function play(steps: readonly ScriptStep[]): Promise<{ text: string; isError: boolean }[]> {
  const answers = [];
  for (const [index, { tool, input }] of toCalls(steps).entries()) {
    if ((delegationToolNames as readonly string[]).includes(tool)) continue;
    const { input: schema, execute } = toolsByName[tool as ToolName];
    answers.push(await execute(schema.parse(input), toContext(`call-${index}`), AbortSignal.timeout(60_000)));
  }
  return answers;
}

/** Every `path:line` and `path:from-to` of a report lies within its file. */
async function expectTruePlaces(report: string): Promise<void> {
  const places = [...report.matchAll(/\b((?:src|test|data)\/[\w.-]+|README\.md):(\d+)(?:-(\d+))?/gu)];
  expect(places.length).toBeGreaterThan(0);
  for (const [, path = "", from, to = from] of places) {
    const lines = (await readFile(join(workspace, path), "utf8")).trimEnd().split("\n");
    expect(Number(to)).toBeLessThanOrEqual(lines.length);
    expect(lines[Number(from) - 1]?.trim()).not.toBe("");
  }
}

describe("the script", () => {
  test("starts delegates that exist, each with a part for its task, and uses only the tools that they have", async () => {
    const builtins = await loadBuiltins();
    expect(toTasks().map(({ input }) => input.agent)).toEqual(["explorer", "explorer", ...order.slice(1)]);
    for (const { input } of toTasks()) {
      expect(input.description).toEqual(expect.any(String));
      const part = toParts(String(input.agent)).find(({ when = "" }) => String(input.task).includes(when));
      const definition = builtins.find(({ name }) => name === input.agent);
      for (const { tool } of toCalls(part?.steps ?? [])) expect(definition?.tools).toContain(tool);
      expect(part?.steps.at(-1)?.calls).toBeUndefined();
    }
  });

  test("streams for less than twelve seconds on its longest way", () => {
    const toSeconds = (steps: readonly ScriptStep[]) =>
      steps.reduce(
        (sum, { text = "", thinking = "", calls = [], tokensPerSecond = 1e9, delaySeconds = 0 }) => {
          const inputs = calls.map(({ input }) => JSON.stringify(input)).join("");
          return sum + `${text}${thinking}${inputs}`.length / 4 / tokensPerSecond + delaySeconds;
        },
        0,
      );
    const delegates = order.flatMap((agent) => toParts(agent).map(({ steps }) => toSeconds(steps)));
    const all = [script.main ?? [], []].map(toSeconds).concat(delegates);
    expect(all.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThan(12);
  });
});

// One after the other, as in the story: the fixer changes what the others have seen.
describe("the story", () => {
  test.each(["explorer", "code-reviewer"])("what %s reports is there", async (agent) => {
    for (const { steps } of toParts(agent)) {
      for (const { text, isError } of await play(steps))
        expect({ text, isError }).toMatchObject({ isError: false });
      await expectTruePlaces(steps.at(-1)?.text ?? "");
    }
  });

  test("what the test-runner reports is what the tests do", async () => {
    const [{ steps } = { steps: [] }] = toParts("test-runner");
    const answers = await play(steps);
    const output = answers.map(({ text }) => text).join("\n");
    expect(output).toMatch(/pass 9\b[\s\S]*fail 1\b/u);
    expect(output).toContain("what is reserved counts as gone");
    const report = steps.at(-1)?.text ?? "";
    expect(report).toContain("9 passed, 1 failed, 0 skipped, of 10");
    await expectTruePlaces(report);
  });

  test("the fixer's edits apply, and its proof is true", async () => {
    const [{ steps } = { steps: [] }] = toParts("fixer");
    const answers = await play(steps);
    const output = answers.map(({ text }) => text).join("\n");
    expect(output).toMatch(/pass 2\b[\s\S]*fail 1\b[\s\S]*pass 11\b[\s\S]*fail 0\b/u);
    expect(answers.filter(({ isError }) => isError).length).toBeLessThanOrEqual(1);
    await expectTruePlaces(steps.at(-1)?.text ?? "");
  });

  test("the final answer is true", async () => {
    const { stdout } = await run("node", ["src/cli.js", "data/stock.csv"], { cwd: workspace });
    expect(stdout.trim().split("\n").slice(-3)).toEqual([
      "order 200 bolt-m6",
      "order 125 washer-6",
      "order 24 hinge-90",
    ]);
    const before = await run("node", ["src/cli.js", "data/stock.csv"], { cwd: join(examples, "inventory") });
    expect(before.stdout.trim().split("\n").slice(4)).toEqual(["", "order 24 hinge-90"]);
    const answer = script.main?.at(-1)?.text ?? "";
    expect(answer).toContain("200 bolt-m6, 125 washer-6 and 24 hinge-90");
    expect(answer).toContain("9 passes and 1 failure before and has 11 passes now");
    for (const { text, isError } of await play(script.main ?? []))
      expect({ text, isError }).toMatchObject({ isError: false });
  });
});
