// Tier: the real command line, server, workers and tools against collectors that are away, hang or refuse. Only a model's words are scripted.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type OtlpReceiver, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { createMachine, type Machine } from "./cli-process.ts";
import { waitUntil } from "./wait-until.ts";

let machine: Machine;
let script: string;
const receivers: OtlpReceiver[] = [];

beforeAll(async () => {
  machine = await createMachine();
  await machine.startReady("dev");
  script = machine.writeScript("words", {
    main: [{ calls: [{ tool: "Bash", input: { command: "sleep 1" } }] }, { text: "Done." }],
  });
}, 180_000);
afterAll(async () => {
  await machine?.end();
  for (const receiver of receivers) await receiver.close();
}, 60_000);

async function startReceiver(...answer: Parameters<typeof startOtlpReceiver>): Promise<string> {
  const receiver = await startOtlpReceiver(...answer);
  receivers.push(receiver);
  return receiver.endpoint;
}

/** An address where nobody listens and nobody else can begin to. */
async function findDeadEndpoint(): Promise<string> {
  const receiver = await startOtlpReceiver();
  await receiver.close();
  return receiver.endpoint;
}

/** Run, and time the end of the command from its answer on. */
async function timeEnd(more: NodeJS.ProcessEnv): Promise<{ stderr: string; endMs: number }> {
  delete machine.environment.OTEL_SDK_DISABLED;
  Object.assign(machine.environment, more);
  const run = machine.start("run", "go", "--script", script, "--permission", "auto");
  await waitUntil(() => run.stdout().includes("Done."), 60_000);
  const answeredAtMs = Date.now();
  const { code, stderr } = await run.result;
  expect(code).toBe(0);
  return { stderr, endMs: Date.now() - answeredAtMs };
}

/** Writes down every module that a process and its threads load. */
const RECORDER = `import { registerHooks } from "node:module";
import { appendFileSync } from "node:fs";
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED_MODULES, url + "\\n"); return next(url, context); } });`;

/** OpenTelemetry's packages that a worker loads which carries out one run, and those that the run's command loads. */
async function recordLoaded(name: string): Promise<Record<"worker" | "command", string[]>> {
  const environment = machine.environment;
  environment.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(RECORDER)}`;
  const files = { worker: `${machine.folder}/${name}-worker`, command: `${machine.folder}/${name}-command` };
  environment.LOADED_MODULES = files.worker;
  const worker = machine.start("worker", "--json", "--task-queue", name);
  await waitUntil(() => worker.events().some(({ type }) => type === "ready"), 60_000);
  environment.LOADED_MODULES = files.command;
  const flags = ["--task-queue", name, "--script", script, "--permission", "auto"];
  expect((await machine.run("run", "go", ...flags)).code).toBe(0);
  worker.child.kill("SIGTERM");
  await worker.result;
  delete environment.NODE_OPTIONS;
  const read = (file: string) => {
    const found = readFileSync(file, "utf8").match(/(?<=node_modules\/)@opentelemetry\/[\w-]+/g);
    return [...new Set(found)].toSorted();
  };
  return { worker: read(files.worker), command: read(files.command) };
}

test("where nothing is asked for, of OpenTelemetry only its interface is loaded", async () => {
  const interfaceAlone = ["@opentelemetry/api"];
  expect(await recordLoaded("off")).toEqual({ worker: interfaceAlone, command: interfaceAlone });
  machine.environment.OTEL_EXPORTER_OTLP_ENDPOINT = await startReceiver();
  const on = await recordLoaded("on");
  delete machine.environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  const sdk = expect.arrayContaining([
    "@opentelemetry/sdk-trace",
    "@opentelemetry/exporter-trace-otlp-proto",
  ]);
  expect(on).toEqual({ worker: sdk, command: sdk });
}, 120_000);

test.each<[string, () => Promise<string>]>([
  ["is away", findDeadEndpoint],
  ["takes requests and never answers", () => startReceiver(() => undefined)],
  ["refuses for good", () => startReceiver((response) => response.writeHead(400).end("no"))],
])(
  "a collector that %s disturbs no run, delays its end by a second or so, and is said once",
  async (_, start) => {
    const endpoint = await start();
    Object.assign(machine.environment, {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_BSP_SCHEDULE_DELAY: "100",
    });
    // How long an end takes in which nothing is to be sent, on this machine at this moment: the worker ends, and the dev server is let go.
    const plainMs = (await timeEnd({ OTEL_SDK_DISABLED: "true" })).endMs;
    const { stderr, endMs } = await timeEnd({});
    // The worker gives its spans a second, and then the command its own; as much again for a busy machine.
    expect(endMs - plainMs).toBeLessThan(4_000);
    const said = stderr.split("\n").filter((line) => line.includes("can't be sent"));
    expect(said).toEqual([expect.stringContaining(`${endpoint}/v1/traces`)]);
  },
  60_000,
);

test("a value that can't be understood ends the command before anything is started, with the variable and the value", async () => {
  const bad = {
    OTEL_EXPORTER_OTLP_PROTOCOL: ["grpc", "only http/protobuf is supported"],
    OTEL_EXPORTER_PROMETHEUS_HOST: ["192.0.2.1", "nothing can listen there"],
  };
  for (const [name, [value, reason]] of Object.entries(bad)) {
    const alone = await createMachine();
    alone.environment[name] = value;
    for (const words of [["run", "go", "--script", script], ["worker"], ["send", "no-such", "go"]]) {
      const { code, stderr } = await alone.run(...words, "--telemetry");
      expect(stderr).toContain(`${name} is ${JSON.stringify(value)}: ${reason}`);
      expect(existsSync(path.join(alone.folder, "state", "subagents", "dev-server"))).toBe(false);
      expect(code).toBe(2);
    }
  }
}, 90_000);

test("an address whose protocol is not spoken here turns nothing on: the command says so once and does its work", async () => {
  Object.assign(machine.environment, {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
  });
  const { code, stdout, stderr } = await machine.run("run", "go", "--script", script, "--permission", "auto");
  expect(code).toBe(0);
  expect(stdout).toContain("Done.");
  expect(stderr.match(/OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"/g)).toHaveLength(1);
  delete machine.environment.OTEL_EXPORTER_OTLP_PROTOCOL;
  delete machine.environment.OTEL_EXPORTER_OTLP_ENDPOINT;
}, 60_000);

test("spans are JSON lines on standard error where the console is chosen, and standard output stays the command's own", async () => {
  machine.environment.OTEL_TRACES_EXPORTER = "console";
  const { code, stderr, events } = await machine.run(
    "run",
    "go",
    "--json",
    "--script",
    script,
    "--permission",
    "auto",
  );
  expect(code).toBe(0);
  expect(events.at(-1)).toMatchObject({ type: "result", status: "completed" });
  const spans = toSpans(stderr);
  // Those of the worker that the command has started come first.
  expect(spans.map(({ name }) => name)).toEqual([
    ...["chat script", "execute_tool Bash", "chat script", "invoke_agent main"],
    "subagents run",
  ]);
  const [command, turn] = [spans.at(-1), spans.at(-2)];
  expect(command?.traceId).toMatch(/^[\da-f]{32}$/);
  expect(turn).toMatchObject({ traceId: command?.traceId, parent: command?.spanId });
}, 60_000);

function toSpans(stderr: string): Record<string, unknown>[] {
  const lines = stderr.split("\n").filter((line) => line.startsWith('{"type":"span"'));
  return lines.map((line) => JSON.parse(line));
}
