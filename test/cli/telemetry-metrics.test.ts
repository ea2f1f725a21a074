// Tier: the real command line, server, workers and tools; the metrics are read from the real endpoint. Only a model's words are scripted.
import { existsSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client, Connection } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { readTelemetry } from "../../worker/telemetry/settings.ts";
import { startWorkerTelemetry } from "../../worker/telemetry/worker-telemetry.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { type Sample, scrape, sum } from "../support/prometheus.ts";
import { createMachine, type Machine, type RunningCommand } from "./cli-process.ts";
import { waitUntil } from "./wait-until.ts";

let machine: Machine;
let server: RunningCommand;
let worker: RunningCommand;
const queue = "measured";
/** Whatever any worker here has served. */
const served: Sample[] = [];

function readyOf(command: RunningCommand) {
  return command.events().find(({ type }) => type === "ready");
}

async function read(): Promise<Sample[]> {
  const samples = await scrape(String(readyOf(worker)?.metrics));
  served.push(...samples);
  return samples;
}

function startRun(script: unknown, ...flags: string[]): RunningCommand {
  const file = machine.writeScript("words", script);
  const mode = flags.length > 0 ? flags : ["--permission", "auto"];
  return machine.start("run", "go", "--json", "--script", file, "--task-queue", queue, ...mode);
}

function pushTo(receiver: OtlpReceiver, everyMs: string): void {
  Object.assign(machine.environment, {
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.endpoint}/v1/metrics`,
    OTEL_METRIC_EXPORT_INTERVAL: everyMs,
  });
}

const task = (agent: string, words: string) => ({ tool: "Task", input: { agent, task: words } });
const bash = (command: string) => ({ tool: "Bash", input: { command } });

const isLike = (labels: Record<string, string>, wanted: Record<string, string>) =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** A dashboard's JSON as its expressions are read: without the quotes' escapes, every namespace chosen. */
function readAll(dashboard: string): string {
  return dashboard.replaceAll('\\"', '"').replaceAll("$namespace", ".*");
}

/** Whether a selector's labels are there, with the values that it wants. */
function findsSeries({ name, matchers }: { name: string; matchers: string }): boolean {
  const wanted = [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)];
  return served.some(
    (sample) =>
      (sample.name === name || wanted.some(([, label]) => label === "__name__")) &&
      wanted.every(([, label = "", operator = "", value = ""]) => {
        const found = label === "__name__" ? sample.name : sample.labels[label];
        if (found === undefined) return false;
        const isEqual = operator.includes("~") ? new RegExp(`^(?:${value})$`).test(found) : found === value;
        // What is left out need not have occurred, but the label must be there.
        return operator.startsWith("!") || isEqual;
      }),
  );
}

/** Let a worker whose workflow code is broken fail at a task, measured as the command line's workers are. */
async function serveFailedTask(): Promise<void> {
  const settings = readTelemetry({ OTEL_EXPORTER_PROMETHEUS_PORT: "0" }, false);
  const { places } = await startWorkerTelemetry(settings, () => undefined);
  const address = String(readyOf(server)?.address);
  const [native, connection] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const taskQueue = "broken";
  const broken = await Worker.create({
    connection: native,
    taskQueue,
    workflowsPath: fileURLToPath(new URL("../fixtures/failing-workflows.ts", import.meta.url)),
  });
  await broken.runUntil(async () => {
    const { workflow } = new Client({ connection });
    const handle = await workflow.start("sessionWorkflow", { taskQueue, workflowId: "broken" });
    await waitUntil(async () => {
      const samples = await scrape(String(places.metrics));
      served.push(...samples);
      return sum(samples, "temporal_workflow_task_execution_failed_total") > 0;
    }, 60_000);
    await handle.terminate();
  });
  await connection.close();
  await native.close();
}

beforeAll(async () => {
  machine = await createMachine();
  Object.assign(machine.environment, { OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_PROMETHEUS_PORT: "0" });
  server = await machine.startReady("dev");
  worker = await machine.startReady("worker", "--telemetry", "--task-queue", queue);
}, 180_000);

afterAll(async () => {
  worker?.child.kill("SIGTERM");
  await worker?.result;
  server?.child.kill("SIGTERM");
  await server?.result;
}, 60_000);

describe("a worker's metrics", () => {
  test("count endings by status and code, stops by their time, and who is at work", async () => {
    const run = startRun({
      main: [
        { calls: [task("test-runner", "hold"), task("explorer", "ask")] },
        { calls: [{ tool: "TaskWait", input: { mode: "any" } }] },
        { calls: [{ tool: "TaskStop", input: {} }] },
        { text: "Done.", delaySeconds: 0.3 },
      ],
      agents: {
        "test-runner": [{ text: "seen", calls: [bash("touch holding; sleep 60")] }],
        explorer: [{ delaySeconds: 1, error: { status: 401, message: "bad key" } }],
      },
    });
    await waitUntil(() => existsSync(path.join(machine.workspace, "holding")), 60_000);
    const during = await read();
    expect(sum(during, "subagents_agents_running", { role: "delegate", agent: "test-runner" })).toBe(1);
    expect(sum(during, "subagents_agents_running", { role: "main", agent: "main" })).toBe(1);

    const last = (await run.result).events.at(-1);
    expect(last).toMatchObject({ type: "result", status: "completed" });
    await waitUntil(async () => sum(await read(), "subagents_agents_running") === 0);
    const after = await read();
    const endings = after.filter(({ name }) => name === "subagents_delegations_ended_total");
    expect(
      endings.map(({ labels: { agent, status, code }, value }) => ({ agent, status, code, value })),
    ).toEqual(
      expect.arrayContaining([
        { agent: "test-runner", status: "stopped", code: "none", value: 1 },
        { agent: "explorer", status: "failed", code: "PROVIDER_AUTH", value: 1 },
      ]),
    );
    // Those that have not occurred are there all the same, each once: a counter that begins with its first event has never risen.
    const series = endings.map(({ labels }) => JSON.stringify(labels));
    expect(new Set(series).size).toBe(series.length);
    const never = { agent: "custom", status: "failed", code: "INTERNAL" };
    expect(endings.filter(({ labels }) => isLike(labels, never)).map(({ value }) => value)).toEqual([0]);
    const stopped = { agent: "test-runner", status: "stopped", code: "none" };
    expect(endings.filter(({ labels }) => isLike(labels, stopped))).toHaveLength(1);
    expect(sum(after, "subagents_delegations_ended_total")).toBe(2);
    expect(sum(after, "subagents_turns_ended_total", { status: "completed", code: "none" })).toBe(1);
    expect(sum(after, "subagents_stop_latency_seconds_count", { status: "stopped" })).toBe(1);
    expect(sum(after, "subagents_stop_latency_seconds_bucket", { status: "stopped", le: "5" })).toBe(1);
    // The pause before the last words is a silence of the main agent.
    expect(sum(after, "subagents_event_gap_seconds_bucket", { role: "main", le: "0.25" })).toBeLessThan(
      sum(after, "subagents_event_gap_seconds_count", { role: "main" }),
    );
    expect(sum(after, "subagents_worker_losses_total")).toBe(0);
    // The SDK's own come by the same way.
    expect(sum(after, "temporal_workflow_task_execution_latency_seconds_count")).toBeGreaterThan(0);
  }, 120_000);

  test("count what a person was asked and what an operator ended", async () => {
    const run = startRun(
      {
        main: [
          { calls: [task("code-reviewer", "hold"), bash("true")] },
          { calls: [{ tool: "TaskWait", input: {} }] },
          { text: "Done." },
        ],
        agents: { "code-reviewer": [{ text: "Half a sentence", silence: true }] },
      },
      ...["--permission", "ask", "--questions", "wait"],
    );
    await waitUntil(() => run.events().some(({ type }) => type === "session"), 60_000);
    const session = String(run.events().find(({ type }) => type === "session")?.session);
    await waitUntil(async () => (await machine.run("approve", session, "q-1")).code === 0, 60_000);
    const connection = await Connection.connect({ address: String(readyOf(server)?.address) });
    await new Client({ connection }).workflow.getHandle(`${session}/task-1`).terminate();
    await connection.close();
    expect((await run.result).events.at(-1)).toMatchObject({ type: "result", status: "completed" });
    const terminated = { agent: "code-reviewer", status: "failed", code: "TERMINATED" };
    expect(sum(await read(), "subagents_delegations_ended_total", terminated)).toBe(1);
    expect(sum(await read(), "subagents_permission_wait_seconds_count", { verdict: "allowed" })).toBe(1);
    await waitUntil(async () => sum(await read(), "subagents_agents_running") === 0);
  }, 120_000);

  test("show a worker that was killed, and how soon its runs went on", async () => {
    const run = startRun({
      main: [
        { calls: [task("test-runner", "wait")] },
        { calls: [{ tool: "TaskWait", input: {} }] },
        { text: "Done." },
      ],
      agents: {
        "test-runner": [
          { calls: [bash("touch begun; until [ -e go ]; do sleep 0.1; done")] },
          { text: "After." },
        ],
      },
    });
    await waitUntil(() => existsSync(path.join(machine.workspace, "begun")), 60_000);
    worker.child.kill("SIGKILL");
    await worker.result;
    writeFileSync(path.join(machine.workspace, "go"), "");
    worker = await machine.startReady("worker", "--telemetry", "--task-queue", queue);
    expect((await run.result).events.at(-1)).toMatchObject({ type: "result", status: "completed" });
    const samples = await read();
    expect(sum(samples, "subagents_worker_losses_total", { role: "delegate" })).toBe(1);
    const labels = { role: "delegate", cause: "lost" };
    expect(sum(samples, "subagents_resume_latency_seconds_count", labels)).toBe(1);
    expect(sum(samples, "subagents_resume_latency_seconds_bucket", { ...labels, le: "60" })).toBe(1);
    // What the killed worker carried is nobody's any more.
    await waitUntil(async () => sum(await read(), "subagents_agents_running") === 0);
  }, 120_000);

  test("are served elsewhere where the port is taken, and the worker says so", async () => {
    const { port } = new URL(String(readyOf(worker)?.metrics));
    machine.environment.OTEL_EXPORTER_PROMETHEUS_PORT = port;
    const second = await machine.startReady("worker", "--task-queue", "another");
    const ready = readyOf(second);
    expect(ready?.warnings).toEqual([expect.stringContaining(`port ${port} of localhost is taken`)]);
    expect(await scrape(String(ready?.metrics))).not.toEqual([]);
    second.child.kill("SIGTERM");
    expect((await second.result).code).toBe(0);
  }, 60_000);

  test("are pushed where that is asked for, those of a worker's last moments too", async () => {
    const receiver = await startOtlpReceiver();
    pushTo(receiver, "1000");
    const script = machine.writeScript("short", { main: [{ text: "Done.", delaySeconds: 0.2 }] });
    // Its worker lives for this turn alone.
    expect((await machine.run("run", "go", "--json", "--script", script)).code).toBe(0);
    const last = receiver.requests.findLast(({ path: at }) => at === "/v1/metrics");
    expect(last?.body.includes("temporal_num_pollers")).toBe(true);
    expect(last?.body.includes("subagents_turns_ended")).toBe(true);
    expect(last?.body.includes("subagents_event_gap")).toBe(true);
    await receiver.close();
  }, 60_000);

  test("that can't be pushed are said once, not at every push", async () => {
    const receiver = await startOtlpReceiver((response) => response.writeHead(500).end());
    pushTo(receiver, "100");
    const refused = machine.start("worker", "--task-queue", "refused");
    await waitUntil(() => receiver.requests.length >= 4, 60_000);
    refused.child.kill("SIGTERM");
    expect((await refused.result).code).toBe(0);
    const said = refused.stderr().split("\n");
    expect(said.filter((line) => line.includes("export failed"))).toHaveLength(1);
    await receiver.close();
  }, 60_000);

  test("are what the dashboard and the alerts ask for and the documentation names", async () => {
    const deploy = new URL("../../deploy/", import.meta.url);
    const dashboard = await readFile(new URL("grafana-dashboard.json", deploy), "utf8");
    const alerts = await readFile(new URL("prometheus-alerts.yaml", deploy), "utf8");
    await serveFailedTask();
    const text = `${readAll(dashboard)}\n${alerts}`;
    const names = new Set(text.match(/\b(?:subagents|temporal)_\w+_\w+/g));
    expect(names.size).toBeGreaterThan(15);
    const isServed = (name: string) => served.some((sample) => sample.name === name);
    expect([...names].filter((name) => !name.endsWith("_") && !isServed(name))).toEqual([]);
    // Each selector finds series as it stands, and what they are grouped by are labels of theirs.
    const selectors = [...text.matchAll(/(\w+)\{([^{}]*)\}/g)].map(([, name = "", matchers = ""]) => ({
      name,
      matchers,
    }));
    expect(selectors.length).toBeGreaterThan(20);
    expect(selectors.filter((selector) => !findsSeries(selector))).toEqual([]);
    const labels = new Set(served.flatMap((sample) => Object.keys(sample.labels)));
    const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */));
    const shown = [...text.matchAll(/\$labels\.(\w+)|\{\{(\w+)\}\}/g)].map(([, a, b]) => a ?? b ?? "");
    expect(grouped.length + shown.length).toBeGreaterThan(30);
    expect([...grouped, ...shown].filter((label) => !labels.has(label))).toEqual([]);
    const page = await readFile(new URL("../../docs/telemetry.md", import.meta.url), "utf8");
    const toFamily = (name: string) => name.replace(/_(?:bucket|sum|count)$/, "");
    const ours = new Set(
      served
        .map(({ name }) => name)
        .filter((name) => name.startsWith("subagents_"))
        .map(toFamily),
    );
    const named = new Set([...(page.match(/\bsubagents_\w+/g) ?? [])].map(toFamily));
    expect([...named].toSorted()).toEqual([...ours].toSorted());
  });
});
