import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { findTemporalBinary } from "../support/temporal-binary.ts";

const SCRIPT = fileURLToPath(new URL("../../deploy/set-up-namespace.sh", import.meta.url));

let server: TestWorkflowEnvironment;
let temporal: string;

beforeAll(async () => {
  temporal = await findTemporalBinary();
  server = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: "existing-path", path: temporal } },
  });
}, 240_000);

afterAll(() => server?.teardown(), 30_000);

async function setUp(environment: Record<string, string>): Promise<{ code: number; output: string }> {
  const child = spawn("sh", [SCRIPT], {
    env: {
      PATH: `${path.dirname(temporal)}:${process.env.PATH}`,
      HOME: "/nonexistent",
      TEMPORAL_ADDRESS: server.address,
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}

test("namespace and search attributes are created and usable, and a second run changes nothing", async () => {
  const first = await setUp({ TEMPORAL_NAMESPACE: "composed" });
  expect(first).toMatchObject({ code: 0, output: expect.stringContaining("namespace composed is ready") });
  const { workflowService, operatorService } = server.connection;
  const { config } = await workflowService.describeNamespace({ namespace: "composed" });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400);
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace: "composed" });
  expect(Object.keys(customAttributes ?? {}).sort()).toEqual(["SubagentsAgent", "SubagentsStatus"]);
  const query = 'SubagentsAgent = "none"';
  await workflowService.countWorkflowExecutions({ namespace: "composed", query });
  const second = await setUp({ TEMPORAL_NAMESPACE: "composed", NAMESPACE_RETENTION: "1d" });
  expect(second.code).toBe(0);
}, 120_000);

test("without a server it gives up after its attempts, and says what failed", async () => {
  const environment = { TEMPORAL_NAMESPACE: "composed", TEMPORAL_ADDRESS: "127.0.0.1:1", ATTEMPTS: "2" };
  const { code, output } = await setUp(environment);
  expect(code).toBe(1);
  expect(output).toContain("gave up after 2 attempts: temporal operator cluster health");
}, 60_000);
