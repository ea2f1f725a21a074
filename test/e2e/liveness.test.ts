// Tier: real dev server, a worker in a process of its own, real tools, a strict provider over real HTTP.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CrashSite } from "../support/crash-site.ts";
import {
  callTools,
  drip,
  errorEvent,
  hangAfter,
  hangBeforeHeaders,
  pingForever,
  reply,
} from "../support/openai-server-behaviours.ts";
import { settled, until } from "../support/real-session.ts";

const IDLE_SECONDS = 3;
const limits = { idleSeconds: IDLE_SECONDS };
let site: CrashSite;

beforeAll(async () => {
  site = await CrashSite.open("liveness");
  await site.startWorker();
}, 120_000);
afterAll(async () => await site?.close(), 60_000);

const bash = (id: string, command: string) => ({ id, name: "Bash", input: { command } });

describe("a delegate", () => {
  test("that says one token every window less a second, for ten windows, is completed", async () => {
    const everyMs = (IDLE_SECONDS - 1) * 1000;
    const tokens = Math.ceil((10 * IDLE_SECONDS * 1000) / everyMs);
    const session = await site.startSession({ "[drip]": [drip(everyMs, tokens)] }, limits);
    const record = await settled(session, await site.start(session, "[drip]"));
    expect(record).toMatchObject({ status: "completed", turns: 1, attempts: 1 });
    expect(record.report.split(" ")).toHaveLength(tokens);
  });

  test.each([
    ["nothing after half a sentence", hangAfter("Half a sen"), "Half a sen"],
    ["pings only, after half a sentence", pingForever(200, "Half a sen"), "Half a sen"],
    ["nothing at all, not even headers", hangBeforeHeaders(), ""],
  ])(
    "of whose provider comes %s is timed out at its window, after one request",
    async (name, behaviour, report) => {
      const session = await site.startSession({ [`[${name}]`]: [behaviour] }, limits);
      const record = await settled(session, await site.start(session, `[${name}]`));
      expect(record).toMatchObject({
        status: "timed_out",
        error: { code: "IDLE_TIMEOUT" },
        report,
        attempts: 1,
      });
      const silence = Number(/no AgentEvent for ([\d.]+) s/.exec(record.error?.message ?? "")?.[1]);
      expect(Math.abs(silence - IDLE_SECONDS)).toBeLessThanOrEqual(1);
      expect(site.requestsOf(`[${name}]`)).toBe(1);
    },
  );

  test("whose provider is overloaded in mid-stream is asked again, and no tool runs twice", async () => {
    let asked = 0;
    const overloaded = errorEvent(
      { type: "overloaded_error", message: "Overloaded" },
      {
        texts: ["Half"],
        call: { id: "again", name: "Bash", input: { command: "echo twice >> overload.log" } },
      },
    );
    const session = await site.startSession({
      "[overload]": [
        callTools(bash("b1", "echo once >> overload.log")),
        (exchange) => (asked++ === 0 ? overloaded(exchange) : reply("in the end")(exchange)),
      ],
    });
    expect(await settled(session, await site.start(session, "[overload]"))).toMatchObject({
      status: "completed",
      report: "in the end",
      turns: 2,
      toolCalls: 1,
    });
    expect(await site.read("overload.log")).toBe("once\n");
    expect(site.requestsOf("[overload]")).toBe(3);
    expect(site.violations).toEqual([]);
  });

  test("that is silent beside one that talks ends by its own clock", async () => {
    const session = await site.startSession(
      { "[silent]": [hangAfter("I stop here.")], "[chatty]": [drip(100, 80)] },
      limits,
    );
    const chatty = await site.start(session, "[chatty]");
    const silent = await site.start(session, "[silent]");
    expect(await settled(session, silent)).toMatchObject({
      status: "timed_out",
      error: { code: "IDLE_TIMEOUT" },
    });
    expect((await session.report(chatty))?.status).toBe("running");
    expect(await settled(session, chatty)).toMatchObject({ status: "completed" });
  });

  test("that hangs keeps nobody from the eight reports of the others, and is asked once", async () => {
    const words = Array.from({ length: 8 }, (_, index) => `[fine-${index + 1}]`);
    const fine = Object.fromEntries(words.map((word) => [word, [reply(`report of ${word}`)]]));
    const session = await site.startSession(
      { ...fine, "[hangs]": [hangAfter("so far")] },
      { idleSeconds: 12 },
    );
    const hangs = await site.start(session, "[hangs]");
    const ids = await Promise.all(words.map((word) => site.start(session, word)));
    const wait = {
      delegationIds: [hangs, ...ids],
      mode: "any" as const,
      minCompleted: 8,
      timeoutSeconds: 60,
    };
    const answer = await session.taskWait({ input: wait }, "eight");
    expect(answer.targets[0]).toMatchObject({ id: hangs, status: "running" });
    expect(
      answer.targets
        .slice(1)
        .map(({ report }) => report)
        .toSorted(),
    ).toEqual(words.map((word) => `report of ${word}`).toSorted());
    const all = { delegationIds: [hangs, ...ids], mode: "all" as const, timeoutSeconds: 60 };
    const ended = await session.taskWait({ input: all }, "all");
    expect(ended.targets[0]).toMatchObject({ status: "timed_out", report: "so far", attempts: 1 });
    expect(site.requestsOf("[hangs]")).toBe(1);
  });
});

test("a tool that blocks its thread for three windows ends nobody, delays nobody, and is stopped within 5 s", async () => {
  // A pattern that backtracks for ages: the thread never gets back to its events.
  await writeFile(path.join(site.server.workspace, `${"a".repeat(120)}c`), "");
  const session = await site.startSession(
    {
      "[blocks]": [callTools({ id: "g1", name: "Glob", input: { pattern: `${"*a".repeat(12)}*b` } })],
      "[neighbour]": [drip(250)],
    },
    limits,
  );
  const blocked = await site.start(session, "[blocks]");
  const neighbour = await site.start(session, "[neighbour]");
  await site.untilDetails(session, blocked, ({ tool }) => tool?.name === "Glob");
  const gaps: number[] = [];
  await until(
    async () => {
      const [own, other] = await Promise.all([blocked, neighbour].map((id) => site.details(session, id)));
      if (other?.phase === "model") gaps.push(Date.now() - other.lastEventAtMs);
      return Date.now() - (own?.tool?.sinceMs ?? Date.now());
    },
    (blockedMs) => blockedMs > 3 * IDLE_SECONDS * 1000,
  );
  // What the server is told may be as old as the throttle of heartbeats; nothing is later than a window.
  expect(Math.max(...gaps)).toBeLessThan(IDLE_SECONDS * 1000 + 1500);
  const askedAtMs = Date.now();
  const answer = await session.taskStop({ input: { delegationIds: [blocked] } }, "stop");
  expect(Date.now() - askedAtMs).toBeLessThan(5000);
  expect(answer.outcomes).toEqual([{ delegationId: blocked, outcome: "stopped" }]);
  expect(await settled(session, blocked)).toMatchObject({ status: "stopped", attempts: 1 });
  expect((await session.report(neighbour))?.status).toBe("running");
  await session.taskStop({ input: { delegationIds: [neighbour] } }, "stop-neighbour");
  expect(await settled(session, neighbour)).toMatchObject({ status: "stopped", attempts: 1 });
});

test("the real windows are what the server holds", async () => {
  const session = await site.startSession({
    "[main]": [
      callTools({ id: "t1", name: "Task", input: { agent: "hand", task: "[pinned]" } }),
      callTools({ id: "w1", name: "TaskWait", input: {} }),
      reply("done"),
    ],
    "[pinned]": [reply("pinned")],
  });
  await session.send("[main]", "turn");
  await session.waitForTurn(1);
  const toOptions = async (workflowId: string) =>
    (await site.history(workflowId)).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === "runAgent"
        ? [
            {
              heartbeatSeconds: Number(scheduled.heartbeatTimeout?.seconds),
              scheduleToCloseSeconds: Number(scheduled.scheduleToCloseTimeout?.seconds),
              startToCloseSeconds: Number(scheduled.startToCloseTimeout?.seconds),
              maximumAttempts: scheduled.retryPolicy?.maximumAttempts,
              retrySeconds: Number(scheduled.retryPolicy?.initialInterval?.seconds),
              backoff: scheduled.retryPolicy?.backoffCoefficient,
            },
          ]
        : [],
    );
  const common = { heartbeatSeconds: 300, maximumAttempts: 0, retrySeconds: 1, backoff: 1 };
  expect(await toOptions(`${session.sessionId}/task-1`)).toEqual([
    { ...common, scheduleToCloseSeconds: 21_600, startToCloseSeconds: 21_600 },
  ]);
  expect(await toOptions(session.sessionId)).toEqual([
    { ...common, scheduleToCloseSeconds: 86_400, startToCloseSeconds: 86_400 },
  ]);
  const child = (await site.history(session.sessionId)).find(
    (event) => event.startChildWorkflowExecutionInitiatedEventAttributes,
  )?.startChildWorkflowExecutionInitiatedEventAttributes;
  expect(Number(child?.workflowExecutionTimeout?.seconds)).toBe(22_200);
});
