// Tier: real dev servers, workers, tools and processes; the model's words are scripted.

import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findProcesses } from "../../activities/processes/end-processes.ts";
import type { SessionHandle } from "../../client/session-client.ts";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import type { RunningWorker } from "../../worker/worker.ts";
import { RealServer, settled, settleOne, until } from "../support/real-session.ts";

const queue = "stop";

/** A delegate that is in one state and would stay there. */
const states: [name: string, steps: object[], isThere: (details: AgentRunDetails) => boolean][] = [
  [
    "a stream of words",
    [{ text: "word ".repeat(5000), tokensPerSecond: 20 }],
    (details) => details.partialReport.length > 20,
  ],
  [
    "a silent provider",
    [{ text: "I wait.", silence: { afterCharacters: 7 } }],
    (details) => details.partialReport === "I wait.",
  ],
  [
    "a backoff",
    [{ error: { status: 429, message: "later", retryAfterSeconds: 200 } }],
    (details) => details.phase === "backoff",
  ],
  [
    "a command",
    [{ text: "I run it.", calls: [bash("sleep 100")] }],
    (details) => details.tool?.name === "Bash",
  ],
  [
    "a command that ignores signals",
    [{ calls: [bash("trap '' TERM INT HUP; setsid sleep 100 & while :; do sleep 1; done")] }],
    (details) => details.tool?.name === "Bash",
  ],
];

function bash(command: string) {
  return { tool: "Bash", input: { command } };
}

describe.each([
  ["a server that pushes cancellations", true],
  ["a server that does not", false],
])("TaskStop on %s", (_, hasPush) => {
  let server: RealServer;
  let worker: RunningWorker;
  beforeAll(async () => {
    server = await RealServer.start({ hasPush });
    worker = await server.startWorker(queue);
  }, 120_000);
  afterAll(async () => {
    await worker?.stop();
    await server?.stop();
  }, 60_000);

  const begin = async (steps: object[], isThere: (details: AgentRunDetails) => boolean) => {
    const session = await server.startSession(queue, { main: [], agents: { "test-runner": steps } });
    const { delegationId } = await session.task(
      { input: { agent: "test-runner", task: "go" } },
      randomUUID(),
    );
    await until(
      () => detailsOf(session, delegationId),
      (details) => details !== undefined && isThere(details),
    );
    return { session, delegationId };
  };

  test.each(states)("ends a delegate within 5 s in the middle of %s", async (_name, steps, isThere) => {
    const { session, delegationId } = await begin(steps, isThere);
    const before = Date.now();
    const answer = await session.taskStop({ input: { delegationIds: [delegationId] } }, randomUUID());
    expect(Date.now() - before).toBeLessThan(5000);
    expect(answer.outcomes).toEqual([{ delegationId, outcome: "stopped" }]);
    const record = await settled(session, delegationId);
    expect(record).toMatchObject({ status: "stopped" });
    expect(await findProcesses((marks) => marks.run?.includes(session.sessionId) ?? false)).toEqual([]);
    const again = await session.taskStop({ input: { delegationIds: [delegationId] } }, randomUUID());
    expect(again.outcomes).toEqual([{ delegationId, outcome: "already", status: "stopped" }]);
  });

  test("keeps the partial report, and nothing is written after its answer", async () => {
    const loop = bash("while :; do date >> stop.log; sleep 0.2; done");
    const { session, delegationId } = await begin(
      [{ text: "I write.", calls: [loop] }],
      (details) => details.tool?.name === "Bash",
    );
    const file = path.join(server.workspace, "stop.log");
    await until(
      () => readFile(file, "utf8").catch(() => ""),
      (text) => text !== "",
    );
    await session.taskStop({ input: { delegationIds: [delegationId] } }, randomUUID());
    const { size } = await stat(file);
    const later = await server.startSession(queue, {
      main: [],
      agents: { "test-runner": [{ calls: [bash("sleep 2")] }, { text: "two seconds have passed" }] },
    });
    expect(await settleOne(later, "test-runner")).toMatchObject({ status: "completed" });
    expect((await stat(file)).size).toBe(size);
    expect(await settled(session, delegationId)).toMatchObject({ status: "stopped", report: "I write." });
  });
});

async function detailsOf(session: SessionHandle, delegationId: string): Promise<AgentRunDetails | undefined> {
  const live = (await session.live([delegationId])).get(delegationId);
  return live?.kind === "running" ? live.details : undefined;
}
