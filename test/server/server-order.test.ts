import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { chooseFreePorts } from "../../worker/server/ports.ts";
import { findTemporalBinary, findTestServerBinary } from "../support/temporal-binary.ts";
import { ensureIn, isAnswering, makeBench, removeBench, type ServerBench } from "./server-bench.ts";

let foreign: TestWorkflowEnvironment;
let address: string;
let bench: ServerBench;

beforeAll(async () => {
  const executable = { type: "existing-path" as const, path: await findTemporalBinary() };
  foreign = await TestWorkflowEnvironment.createLocal({ server: { executable } });
  address = foreign.address;
}, 240_000);

afterAll(() => foreign?.teardown(), 30_000);

beforeEach(async () => {
  bench = await makeBench();
});

afterEach(() => removeBench(bench), 60_000);

function writeConfiguration(text: string): { TEMPORAL_CONFIG_FILE: string } {
  const file = path.join(bench.root, "temporal.toml");
  writeFileSync(file, text);
  return { TEMPORAL_CONFIG_FILE: file };
}

const isNothingStarted = () => !existsSync(bench.stateFolder.devServer);

describe("a configured server", () => {
  test("TEMPORAL_ADDRESS is used, and neither started nor stopped", async () => {
    const lease = await ensureIn(bench, { TEMPORAL_ADDRESS: address });
    expect(lease).toMatchObject({ address, namespace: "default", isOurs: false });
    expect(lease.connectionOptions).toMatchObject({ address });
    await lease.release();
    expect(await isAnswering(address)).toBe(true);
    expect(isNothingStarted()).toBe(true);
  }, 30_000);

  test("its search attributes are registered where that is allowed, and usable then", async () => {
    const lease = await ensureIn(bench, { TEMPORAL_ADDRESS: address });
    expect(lease.hasSearchAttributes).toBe(true);
    const query = 'SubagentsAgent = "none" OR SubagentsStatus = "none"';
    expect((await foreign.client.workflow.count(query)).count).toBe(0);
  }, 60_000);

  test("one that refuses search attributes is used without them", async () => {
    const executable = { type: "existing-path" as const, path: await findTestServerBinary() };
    const small = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
    try {
      const lease = await ensureIn(bench, { TEMPORAL_ADDRESS: small.address });
      expect(lease.hasSearchAttributes).toBe(false);
      expect(bench.lines).toEqual([expect.stringContaining("search attributes are not used")]);
    } finally {
      await small.teardown();
    }
  }, 60_000);

  test("a profile of the configuration file is used, by option and by variable", async () => {
    const file = writeConfiguration(`[profile.mine]\naddress = "${address}"\n`);
    expect(await ensureIn(bench, file, "mine")).toMatchObject({ address, isOurs: false });
    expect(await ensureIn(bench, { ...file, TEMPORAL_PROFILE: "mine" })).toMatchObject({
      address,
      isOurs: false,
    });
    expect(isNothingStarted()).toBe(true);
  }, 30_000);

  test.each([
    ["one that can't be reached", { TEMPORAL_ADDRESS: "127.0.0.1:1" }, /127\.0\.0\.1:1 can't be reached/],
    ["a profile that is not there", { TEMPORAL_PROFILE: "nobody" }, /nobody/],
    ["credentials without an address", { TEMPORAL_API_KEY: "key" }, /has no address: set TEMPORAL_ADDRESS/],
    ["a port out of bounds", { SUBAGENTS_SERVER_PORT: "70000" }, /SUBAGENTS_SERVER_PORT is "70000"/],
  ])(
    "%s is a clear error, and nothing is started",
    async (_, environment, message) => {
      const problem = ensureIn(bench, environment);
      await expect(problem).rejects.toMatchObject({ code: "Server.Configuration", exitCode: 2 });
      await expect(problem).rejects.toThrow(message);
      expect(isNothingStarted()).toBe(true);
    },
    30_000,
  );

  test("a namespace that it lacks is named", async () => {
    const environment = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: "nowhere" };
    await expect(ensureIn(bench, environment)).rejects.toThrow(/has no namespace nowhere/);
  }, 30_000);

  test("a configuration file that can't be read is a clear error", async () => {
    const problem = ensureIn(bench, writeConfiguration("[profile"));
    await expect(problem).rejects.toMatchObject({ code: "Server.Configuration" });
    expect(isNothingStarted()).toBe(true);
  }, 30_000);
});

describe("without a configured server", () => {
  test("one that answers at the usual port is used and not stopped", async () => {
    const lease = await ensureIn(bench, { SUBAGENTS_SERVER_PORT: address.split(":")[1] });
    expect(lease).toMatchObject({ address, isOurs: false });
    await lease.release();
    expect(await isAnswering(address)).toBe(true);
  }, 30_000);

  test("the usual ports are taken if they are free", async () => {
    const { port } = await chooseFreePorts([]);
    const lease = await ensureIn(bench, { SUBAGENTS_SERVER_PORT: String(port) });
    expect(lease).toMatchObject({ address: `127.0.0.1:${port}`, uiUrl: `http://127.0.0.1:${port + 1_000}` });
    await lease.release();
  }, 60_000);

  test("another program at the usual port is left alone, and the server starts at a free one", async () => {
    const other = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const bound = other.address();
    const port = typeof bound === "object" ? bound?.port : undefined;
    const lease = await ensureIn(bench, { SUBAGENTS_SERVER_PORT: String(port) });
    expect(lease.isOurs).toBe(true);
    expect(lease.address).not.toBe(`127.0.0.1:${port}`);
    await lease.release();
    other.close();
  }, 60_000);

  test("a state folder that can't be written is a clear error", async () => {
    mkdirSync(bench.stateFolder.root, { recursive: true });
    writeFileSync(bench.stateFolder.devServer, "a file in the folder's place");
    const problem = ensureIn(bench, {});
    await expect(problem).rejects.toMatchObject({ code: "Server.Configuration", exitCode: 2 });
    await expect(problem).rejects.toThrow(/can't be written .* XDG_STATE_HOME/);
  });
});
