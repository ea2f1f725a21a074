// Tier: real dev server, worker, tools and processes; the model's words are scripted.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { RunningWorker } from "../../worker/worker.ts";
import { RealServer, until } from "../support/real-session.ts";

const queue = "session-operators";
let server: RealServer;
let worker: RunningWorker;

beforeAll(async () => {
  server = await RealServer.start();
  worker = await server.startWorker(queue);
}, 120_000);
afterAll(async () => {
  await worker?.stop();
  await server?.stop();
}, 60_000);

const bash = (command: string) => ({ tool: "Bash", input: { command } });

/** Reset a session to a workflow task, as `temporal workflow reset` does. */
async function reset(sessionId: string, eventId: unknown): Promise<void> {
  const { client } = server.environment;
  await client.workflowService.resetWorkflowExecution({
    namespace: "default",
    workflowExecution: { workflowId: sessionId },
    workflowTaskFinishEventId: eventId as null,
    requestId: randomUUID(),
    reason: "a test",
  });
}

describe("a session that an operator has reset", () => {
  const script = {
    main: [],
    agents: { "test-runner": [{ text: "seen so far", calls: [bash("sleep 60")] }] },
  };

  async function startHolding() {
    const session = await server.startSession(queue, script);
    const input = { agent: "test-runner", task: "go" };
    const { delegationId } = await session.task({ input }, randomUUID());
    await until(
      async () => (await session.live([delegationId])).get(delegationId),
      (live) => live?.kind === "running" && live.details?.phase === "tool",
    );
    const { events = [] } = await server.environment.client.workflow
      .getHandle(session.sessionId)
      .fetchHistory();
    return { session, delegationId, events: events ?? [] };
  }

  test.each([
    ["behind the start of its delegates", "last"],
    ["before the start of its delegates", "before"],
  ])("%s still reaches those that run, and learns of their end", async (_, place) => {
    const { session, delegationId, events } = await startHolding();
    const begin = events.find((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
    const completed = events.filter((event) => event.workflowTaskCompletedEventAttributes);
    const isBefore = ({ eventId }: (typeof events)[number]) => Number(eventId) < Number(begin?.eventId);
    const chosen = place === "last" ? completed.at(-1) : completed.findLast(isBefore);
    await reset(session.sessionId, chosen?.eventId);
    await until(
      async () => (await session.view()).delegations,
      (delegations) => delegations.some(({ id, status }) => id === delegationId && status === "running"),
    );
    const { outcomes } = await session.taskStop({ input: { delegationIds: [delegationId] } }, randomUUID());
    expect(outcomes).toEqual([{ delegationId, outcome: "stopped" }]);
    expect(await session.report(delegationId)).toMatchObject({ status: "stopped", report: "seen so far" });
  });

  test("settles a delegate of before that is gone, once it is asked to end", async () => {
    const { session, delegationId, events } = await startHolding();
    const last = events.findLast((event) => event.workflowTaskCompletedEventAttributes);
    await reset(session.sessionId, last?.eventId);
    await server.environment.client.workflow.getHandle(`${session.sessionId}/${delegationId}`).terminate();
    await session.taskStop({ input: { delegationIds: [delegationId] } }, randomUUID());
    expect(await session.report(delegationId)).toMatchObject({
      status: "failed",
      error: { code: "TERMINATED" },
      report: "seen so far",
    });
  });
});

describe("a session that an operator has cancelled", () => {
  test("ends its delegates as aborted, each of them, and its turn", async () => {
    const hold = (agent: string) => ({ tool: "Task", input: { agent, task: "hold" } });
    const session = await server.startSession(queue, {
      main: [{ calls: [hold("test-runner"), hold("fixer")] }, { calls: [{ tool: "TaskWait", input: {} }] }],
      agents: {
        "test-runner": [{ text: "seen", calls: [bash("sleep 60")] }],
        fixer: [{ text: "half", calls: [bash("sleep 60")] }],
      },
    });
    await session.send("go");
    await until(
      async () => [...(await session.live(["task-1", "task-2"])).values()],
      (states) => states.every((live) => live.kind === "running" && live.details?.phase === "tool"),
    );
    await server.environment.client.workflow.getHandle(session.sessionId).cancel();
    const view = await until(
      () => session.view(),
      ({ turns, delegations }) =>
        turns[0]?.status !== "running" && delegations.every(({ status }) => status !== "running"),
    );
    expect(view.turns[0]?.status).toBe("aborted");
    expect(view.delegations.map(({ status }) => status)).toEqual(["aborted", "aborted"]);
  });
});
