// Tier: real dev server, worker, tools and processes; the model's words are scripted.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { SessionInput } from "../../core/session.ts";
import type { RunningWorker } from "../../worker/worker.ts";
import { RealServer, settled, settleOne, until } from "../support/real-session.ts";

const queue = "endings";
let server: RealServer;
let worker: RunningWorker;

beforeAll(async () => {
  server = await RealServer.start();
  const agents = path.join(server.folder, "agents");
  await mkdir(agents);
  await writeFile(
    path.join(agents, "short.md"),
    "---\nname: short\ndescription: has three turns\ntools: Bash\nmaxTurns: 3\n---\nWork.",
  );
  worker = await server.startWorker(queue);
}, 120_000);
afterAll(async () => {
  await worker?.stop();
  await server?.stop();
}, 60_000);

const limits = (changes: Partial<SessionInput["limits"]>): Partial<SessionInput> => ({
  limits: { idleSeconds: 300, maxDurationSeconds: 21_600, turnMaxDurationSeconds: 86_400, ...changes },
});
const start = async (explorer: object[], input: Partial<SessionInput> = {}) =>
  await server.startSession(
    queue,
    { main: [{ text: "done" }], agents: { explorer, short: explorer } },
    { agentDirectories: [path.join(server.folder, "agents")], ...input },
  );
const list = { tool: "Glob", input: { pattern: "*" } };

describe("a delegate", () => {
  test("whose last message has text and a normal stop is completed", async () => {
    const session = await start([{ text: "I look.", calls: [list] }, { text: "the report" }]);
    expect(await settleOne(session)).toMatchObject({
      status: "completed",
      report: "the report",
      turns: 2,
      toolCalls: 1,
      attempts: 1,
    });
  });

  test("that uses up its turns runs their tools, writes its report in a closing turn, and is truncated", async () => {
    const again = {
      text: "more",
      calls: [{ tool: "Bash", input: { command: "echo x >> turns.log" } }],
      repeat: true,
    };
    const session = await start([again, { text: "what I have", closing: true }]);
    const record = await settleOne(session, "short");
    expect(record).toMatchObject({
      status: "truncated",
      report: "what I have",
      turns: 4,
      toolCalls: 3,
      error: { code: "TURN_LIMIT" },
    });
  });

  test("that ends by itself in its last turn is completed", async () => {
    const call = { calls: [list] };
    const session = await start([call, call, { text: "just in time" }]);
    expect(await settleOne(session, "short")).toMatchObject({
      status: "completed",
      report: "just in time",
      turns: 3,
    });
  });

  test("whose last message the provider cut is truncated", async () => {
    const session = await start([{ text: "half of the rep", stop: "length" }]);
    expect(await settleOne(session)).toMatchObject({
      status: "truncated",
      report: "half of the rep",
      error: { code: "OUTPUT_LIMIT" },
    });
  });

  test.each([
    ["empty", { text: "" }],
    ["white space", { text: " \n\t" }],
    ["thinking only", { thinking: "hm" }],
  ])("whose last message is %s has failed, with its last text kept", async (_, last) => {
    const session = await start([{ text: "useful before", calls: [list] }, last]);
    expect(await settleOne(session)).toMatchObject({
      status: "failed",
      report: "useful before",
      error: { code: "NO_REPORT" },
    });
  });

  test("that falls silent in the middle of a sentence is timed out exactly at its window, with the half sentence", async () => {
    const session = await start(
      [{ text: "Half a sentence that goes on", silence: { afterCharacters: 15 } }],
      limits({ idleSeconds: 3 }),
    );
    const record = await settleOne(session);
    expect(record).toMatchObject({
      status: "timed_out",
      report: "Half a sentence",
      error: { code: "IDLE_TIMEOUT" },
      attempts: 1,
    });
    const silence = Number(/no AgentEvent for ([\d.]+) s/.exec(record.error?.message ?? "")?.[1]);
    expect(silence).toBeGreaterThanOrEqual(3);
    expect(silence).toBeLessThan(4);
  });

  test("whose tools are silent for longer than the window is completed", async () => {
    const sleep = { tool: "Bash", input: { command: "sleep 4; echo DONE" } };
    const session = await start(
      [
        { calls: [sleep, { tool: "Bash", input: { command: "sleep 1" } }] },
        { calls: [sleep] },
        { text: "slept" },
      ],
      limits({ idleSeconds: 2 }),
    );
    expect(await settleOne(session, "short")).toMatchObject({
      status: "completed",
      report: "slept",
      toolCalls: 3,
    });
  });

  test("that reaches its ceiling in a tool is timed out, and the tool and its input are named", async () => {
    const session = await start(
      [{ text: "I start it.", calls: [{ tool: "Bash", input: { command: "sleep 60" } }] }],
      limits({ maxDurationSeconds: 4 }),
    );
    const record = await settleOne(session, "short");
    expect(record).toMatchObject({
      status: "timed_out",
      report: "I start it.",
      error: { code: "DURATION_TIMEOUT" },
    });
    expect(record.error?.message).toMatch(/Bash sleep 60/);
  });

  test("whose provider asks for a longer wait than the window allows is timed out at once", async () => {
    const session = await start([
      { text: "Before.", calls: [list] },
      { error: { status: 429, message: "slow down", retryAfterSeconds: 400 } },
    ]);
    const record = await settleOne(session);
    expect(record).toMatchObject({
      status: "timed_out",
      report: "Before.",
      error: { code: "PROVIDER_RATE_LIMITED" },
    });
    expect(record.error?.message).toMatch(/40[01] s.*slow down/);
  });

  test("whose provider refuses has failed with the provider's text, after one request", async () => {
    const session = await start([{ error: { status: 401, message: "bad key" } }]);
    const record = await settleOne(session);
    expect(record).toMatchObject({ status: "failed", error: { code: "PROVIDER_AUTH" } });
    expect(record.error?.message).toMatch(/bad key/);
    expect(record.error?.message).not.toMatch(/requests/);
  });

  test("whose provider fails for a moment goes on without repeating a tool", async () => {
    const append = { tool: "Bash", input: { command: "echo once >> once.log; wc -l < once.log" } };
    const session = await start([
      { calls: [append] },
      { text: "fine", error: { status: 529, message: "overloaded", times: 2, retryAfterSeconds: 0 } },
    ]);
    expect(await settleOne(session, "short")).toMatchObject({
      status: "completed",
      report: "fine",
      turns: 2,
      toolCalls: 1,
    });
  });

  test("whose workflow is terminated from outside has failed, with what it had written", async () => {
    const session = await start([
      { text: "seen so far", calls: [{ tool: "Bash", input: { command: "sleep 60" } }] },
    ]);
    const { delegationId } = await session.task({ input: { agent: "short", task: "look" } }, "t");
    await until(
      async () => (await session.live([delegationId])).get(delegationId),
      (live) => live?.kind === "running" && live.details?.phase === "tool",
    );
    await server.environment.client.workflow
      .getHandle(`${session.sessionId}/${delegationId}`)
      .terminate("from Temporal Web");
    expect(await settled(session, delegationId)).toMatchObject({
      status: "failed",
      report: "seen so far",
      error: { code: "TERMINATED" },
    });
  });
});
