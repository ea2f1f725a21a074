// Tier: no server. What does not replay is told apart, and where it parts from the code is named.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { parseHistory } from "../../worker/replay/read-history.ts";
import { replayHistories } from "../../worker/replay/replay-histories.ts";
import { installReplayRuntime } from "../../worker/replay/replay-runtime.ts";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";
import { type EventJson, type HistoryJson, loadHistory, renumber, replayText } from "../support/histories.ts";

installReplayRuntime();

const replaceAll = (history: HistoryJson, from: string, to: string): HistoryJson =>
  JSON.parse(JSON.stringify(history).replaceAll(from, to));
const find = ({ events }: HistoryJson, type: string): EventJson => {
  const event = events.find(({ eventType }) => eventType === `EVENT_TYPE_${type}`);
  if (event === undefined) throw new Error(`there is no ${type}`);
  return event;
};

test("another activity is a divergence at the event that scheduled it", async () => {
  const history = replaceAll(await loadHistory("completed.delegate"), "runAgent", "runSomething");
  const { status, text, divergence } = await replayText(history);
  expect({ status, text }).toEqual({
    status: "diverged",
    text: "diverged at event 5: Activity type of scheduled event 'runSomething' does not match activity type of activity command 'runAgent'",
  });
  expect(divergence).toMatchObject({
    event: { eventId: 5, type: "ActivityTaskScheduled", name: "runSomething (activity 1)" },
    workflowTask: [2, 3, 4],
    code: "schedules an activity of type runAgent",
  });
  expect(divergence?.event?.time).toBe(
    find(history, "ACTIVITY_TASK_SCHEDULED").eventTime.replace(/\d{6}Z$/, "Z"),
  );
  expect(divergence?.around.map(({ eventId }) => eventId)).toEqual([2, 3, 4, 5, 6, 7, 8]);
});

test("another child is a divergence at the event that began it", async () => {
  const history = replaceAll(await loadHistory("completed.session"), "/task-1", "/task-7");
  const { status, divergence, facts } = await replayText(history);
  expect(status).toBe("diverged");
  expect(divergence?.event).toMatchObject({
    type: "StartChildWorkflowExecutionInitiated",
    name: `delegateWorkflow (${facts?.workflowId}/task-7)`,
  });
  expect(divergence?.code).toBe(`starts a child workflow of id ${facts?.workflowId}/task-1`);
});

test("an event of another kind names what the code does in its place", async () => {
  const history = await loadHistory("completed.delegate");
  const scheduled = find(history, "ACTIVITY_TASK_SCHEDULED");
  const { workflowTaskCompletedEventId } = scheduled.activityTaskScheduledEventAttributes;
  const { eventId, eventTime } = scheduled;
  const timer = {
    eventId,
    eventTime,
    eventType: "EVENT_TYPE_TIMER_STARTED",
    timerStartedEventAttributes: { timerId: "1", startToFireTimeout: "60s", workflowTaskCompletedEventId },
  };
  const events = history.events.slice(0, Number(eventId) - 1);
  const { divergence, status } = await replayText({ events: [...events, timer] });
  expect(status).toBe("diverged");
  expect(divergence).toMatchObject({
    event: { eventId: Number(eventId), type: "TimerStarted", name: "timer 1" },
    code: "schedules an activity of type runAgent",
  });
});

test("an event that the code has no part in is a divergence", async () => {
  const history = await loadHistory("completed.session");
  const completed = find(history, "WORKFLOW_EXECUTION_COMPLETED");
  const index = Number(completed.eventId) - 1;
  const { workflowTaskCompletedEventId } = completed.workflowExecutionCompletedEventAttributes;
  const timer = {
    ...completed,
    eventType: "EVENT_TYPE_TIMER_STARTED",
    workflowExecutionCompletedEventAttributes: undefined,
    timerStartedEventAttributes: { timerId: "99", startToFireTimeout: "1s", workflowTaskCompletedEventId },
  };
  const events = [...history.events.slice(0, index), timer, completed];
  const { status, divergence } = await replayText(renumber({ events } as HistoryJson));
  expect(status).toBe("diverged");
  expect(divergence).toMatchObject({ event: { eventId: index + 1 }, code: "completes the workflow" });
});

test("an ending that the code does not come to is a divergence", async () => {
  const history = await loadHistory("completed.session");
  const completed = find(history, "WORKFLOW_EXECUTION_COMPLETED");
  const firstTask = history.events.slice(0, 4);
  const early = {
    ...completed,
    workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId: "4" },
  };
  const { status, divergence } = await replayText(renumber({ events: [...firstTask, early] } as HistoryJson));
  expect(status).toBe("diverged");
  expect(divergence?.event).toMatchObject({ eventId: 5, type: "WorkflowExecutionCompleted" });
});

test("code that throws where the history went on is told apart, with where in the code", async () => {
  const history = replaceAll(await loadHistory("completed.delegate"), "delegateWorkflow", "sessionWorkflow");
  const { status, divergence } = await replayText(history);
  expect(status).toBe("code-failed");
  expect(divergence?.reason).toContain("Cannot read properties of undefined");
  expect(divergence?.stack).toMatch(/workflows\/session/);
  expect(divergence).toMatchObject({ event: { eventId: 4 }, workflowTask: [2, 3, 4] });
});

test("a type that the bundle does not have is told apart", async () => {
  const history = replaceAll(await loadHistory("completed.session"), "sessionWorkflow", "someWorkflow");
  expect(await replayText(history)).toMatchObject({
    status: "unknown-type",
    text: "there is no workflow of type someWorkflow in the bundle",
  });
});

test.each<[string, (history: HistoryJson) => EventJson[], string]>([
  [
    "without its beginning",
    ({ events }) => events.slice(1),
    "its first event is WorkflowTaskScheduled (event 2)",
  ],
  ["with a gap", ({ events }) => events.filter((_, index) => index !== 5), "event 5 is followed by event 7"],
  ["backwards", ({ events }) => events.toReversed(), "the beginning is missing"],
  [
    "with an event twice",
    ({ events }) => [...events.slice(0, 5), ...events.slice(4)],
    "event 5 is followed by event 5",
  ],
])("a history %s can't be replayed, and does not make it wait", async (_, toEvents, reason) => {
  const outcome = await replayText({ events: toEvents(await loadHistory("completed.session")) });
  expect(outcome).toMatchObject({ status: "unreadable", text: expect.stringContaining(reason) });
});

test("a history of a run that goes on replays up to where it is, whatever that is", async () => {
  const { events } = await loadHistory("waited-and-listed.session");
  const workflowBundle = await bundleWorkflows();
  const sources = events.map((_, index) => ({
    name: `${index + 1}`,
    history: parseHistory(Buffer.from(JSON.stringify({ events: events.slice(0, index + 1) }))),
  }));
  const seen = [];
  for await (const { status, text, facts } of replayHistories(sources, { workflowBundle })) {
    seen.push([status, facts?.ended, text]);
  }
  expect(seen[0]).toEqual(["replays", "open", "no code of it has run yet: there is nothing to replay"]);
  expect(seen.at(-1)).toEqual(["replays", "completed", "replays"]);
  expect(seen.slice(2, -1).every(([status, ended]) => status === "replays" && ended === "open")).toBe(true);
});

test("payloads that only a codec can read are no divergence", async () => {
  const encrypted = Buffer.from("binary/encrypted").toString("base64");
  const history = replaceAll(await loadHistory("completed.session"), "anNvbi9wbGFpbg==", encrypted);
  expect(await replayText(history)).toMatchObject({
    status: "unreadable",
    text: expect.stringContaining("encoded as binary/encrypted"),
  });
});

test("one that fails hurts none of the others, and the same one may come twice", async () => {
  const good = await loadHistory("completed.delegate");
  const bad = replaceAll(good, "runAgent", "runSomething");
  const toSource = (history: HistoryJson, index: number) => ({
    name: `${index}`,
    history: parseHistory(Buffer.from(JSON.stringify(history))),
  });
  const sources = [good, bad, good, bad, bad, good, good].map(toSource);
  const statuses = [];
  for await (const { status } of replayHistories(sources, { workflowBundle: await bundleWorkflows() })) {
    statuses.push(status);
  }
  expect(statuses).toEqual(["replays", "diverged", "replays", "diverged", "diverged", "replays", "replays"]);
});

test("a replay that never ends is given up, and the next one goes on in another worker", async () => {
  const script = fileURLToPath(new URL("./stuck-replay.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 60_000 });
  expect(stdout).toBe("stuck,stuck,replays");
});
