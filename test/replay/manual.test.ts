// docs/replay.md's own example: a project that embeds the workflows beside its own, and replays both. Real server, real project, real commands.
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { Worker } from "@temporalio/worker";
import { bundleWorkflowsFile } from "../../worker/replay/bundle-file.ts";
import { installReplayRuntime } from "../../worker/replay/replay-runtime.ts";
import { toHistoryPath } from "../support/histories.ts";
import { findTemporalBinary } from "../support/temporal-binary.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const manual = await readFile(path.join(root, "docs", "replay.md"), "utf8");
const [workflows = "", replayTest = "", patchedWorkflows = ""] = [
  ...manual.matchAll(/```ts\n(\/\/ \S+\n[\s\S]*?)```/g),
].map(([, code]) => code);

let project: string;
const toPath = (...names: string[]) => path.join(project, ...names);

beforeAll(async () => {
  installReplayRuntime();
  project = await mkdtemp(path.join(tmpdir(), "replay-manual-"));
  await makeProject();
  await record();
});
afterAll(async () => {
  await rm(project, { recursive: true, force: true });
});

/** A project that has the package installed, from these sources. */
async function makeProject(): Promise<void> {
  await mkdir(toPath("node_modules", "temporal-subagents"), { recursive: true });
  await mkdir(toPath("histories"));
  await symlink(path.join(root, "node_modules", "@temporalio"), toPath("node_modules", "@temporalio"));
  await symlink(root, toPath("node_modules", "temporal-subagents", "src"));
  const exports = Object.fromEntries(
    ["worker", "workflows"].map((name) => [`./${name}`, `./src/${name}/index.ts`]),
  );
  const manifest = { name: "temporal-subagents", type: "module", exports };
  await writeFile(toPath("node_modules", "temporal-subagents", "package.json"), JSON.stringify(manifest));
  await writeFile(toPath("package.json"), JSON.stringify({ type: "module" }));
  await writeFile(toPath("workflows.ts"), workflows);
  await writeFile(toPath("replay.test.ts"), replayTest);
  await copyFile(toHistoryPath("completed.session"), toPath("histories", "session.json"));
}

/** Run the project's own workflow, and export its history as the manual says. */
async function record(): Promise<void> {
  const binary = await findTemporalBinary();
  const executable = { type: "existing-path" as const, path: binary };
  const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
  try {
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      taskQueue: "digest",
      workflowBundle: await bundleWorkflowsFile(toPath("workflows.ts")),
      activities: { publish: async () => undefined },
    });
    const start = { workflowId: "digest-1", taskQueue: "digest", args: ["news"] };
    await worker.runUntil(environment.client.workflow.execute("digestWorkflow", start));
    const words = ["workflow", "show", "--workflow-id", "digest-1", "--output", "json"];
    const { stdout } = await run(binary, [...words, "--address", environment.address]);
    await writeFile(toPath("histories", "digest.json"), stdout);
  } finally {
    await environment.teardown();
  }
}

/** Carry out a command in the project; what it says, and its exit code. */
async function carryOut(...words: string[]): Promise<{ code: number; text: string }> {
  // Within a test of Node's own runner its reporter speaks to the parent instead.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  try {
    const { stdout, stderr } = await run(process.execPath, words, { cwd: project, env });
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, text: stdout + stderr };
  }
}
const runTest = async () => await carryOut("--test", "--test-reporter=spec", "replay.test.ts");
const replay = async () =>
  await carryOut(path.join(root, "client/cli/main.ts"), "replay", "--workflows", "workflows.ts", "histories");

test("the project's test and the command replay its own workflows and ours", async () => {
  expect(await runTest()).toMatchObject({
    code: 0,
    text: expect.stringContaining("every recorded history replays"),
  });
  const { code, text } = await replay();
  expect(text).toContain("2 histories: 2 replay.");
  expect(code).toBe(0);
});

test("a change behind patched() replays", async () => {
  await writeFile(toPath("workflows.ts"), patchedWorkflows);
  expect((await replay()).text).toContain("2 histories: 2 replay.");
  expect((await runTest()).code).toBe(0);
});

test("the same change without it diverges: both say where", async () => {
  const unpatched = patchedWorkflows.replace('if (patched("review-first")) ', "");
  expect(unpatched).not.toBe(patchedWorkflows);
  await writeFile(toPath("workflows.ts"), unpatched);
  const tested = await runTest();
  expect(tested.code).toBe(1);
  expect(tested.text).toMatch(/digest\.json: diverged at event 5/);
  const { code, text } = await replay();
  expect(code).toBe(1);
  expect(text).toContain("history:  TimerStarted timer 1");
  expect(text).toContain("the code: schedules an activity of type review");
  expect(text).toContain("2 histories: 1 replay, 1 diverged.");
});

test("without our workflows a session's history has no workflow, and with ours alone the project's has none", async () => {
  await writeFile(toPath("workflows.ts"), workflows.replace(/^export \*.*$/m, ""));
  expect((await replay()).text).toMatch(/UNKNOWN TYPE .*session\.json/);
  const { code, text } = await carryOut(
    path.join(root, "client/cli/main.ts"),
    "replay",
    "histories/digest.json",
  );
  expect(code).toBe(1);
  expect(text).toContain("there is no workflow of type digestWorkflow in the bundle");
  expect(text).toContain("--workflows");
});
