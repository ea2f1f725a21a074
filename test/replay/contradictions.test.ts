// Tier: no server. A history that contradicts itself is refused at once, with the event at which it does; none that a server wrote is.
import { readdir } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { checkEvents } from "../../worker/replay/check-events.ts";
import { readFacts } from "../../worker/replay/history.ts";
import { parseHistory } from "../../worker/replay/read-history.ts";
import {
  type HistorySource,
  type ReplayOutcome,
  replayHistories,
} from "../../worker/replay/replay-histories.ts";
import { installReplayRuntime } from "../../worker/replay/replay-runtime.ts";
import { bundleWorkflows } from "../../worker/workflow-bundle.ts";
import { type EventJson, loadHistory, renumber, toHistoryPath } from "../support/histories.ts";

installReplayRuntime();
const parse = (events: EventJson[]) => parseHistory(Buffer.from(JSON.stringify({ events })));
const check = (events: EventJson[]) => checkEvents(parse(renumber({ events }).events).events ?? []);
const toAttributesKey = (event: EventJson) =>
  Object.keys(event).find((key) => key.endsWith("EventAttributes")) ?? "";
const { events: delegate } = await loadHistory("completed.delegate");
const { events: session } = await loadHistory("waited-and-listed.session");

async function replayAll(histories: EventJson[][]): Promise<ReplayOutcome[]> {
  const sources: HistorySource[] = histories.map((events, index) => ({
    name: `${index}`,
    history: parse(events),
  }));
  const outcomes = [];
  const options = { workflowBundle: await bundleWorkflows() };
  for await (const outcome of replayHistories(sources, options)) outcomes.push(outcome);
  return outcomes;
}

type Mutate = (events: readonly EventJson[], index: number) => EventJson[];
const replaceAt = (events: readonly EventJson[], index: number, by: object): EventJson[] =>
  events.map((event, at) => (at === index ? { ...event, ...by } : event));
const mutations: Record<string, Mutate> = {
  "is missing": (events, index) => events.filter((_, at) => at !== index),
  "is there twice": (events, index) => [...events.slice(0, index + 1), ...events.slice(index)],
  "has changed places with the next": (events, index) => {
    const [one, other] = events.slice(index, index + 2);
    if (one === undefined || other === undefined) return [...events.slice(0, -1)];
    return [...events.slice(0, index), other, one, ...events.slice(index + 2)];
  },
  "is of a type that no one knows": (events, index) =>
    replaceAt(events, index, { eventType: "EVENT_TYPE_FROM_THE_FUTURE" }),
  "is said to be of another type": (events, index) =>
    replaceAt(events, index, {
      eventType: index === 0 ? "EVENT_TYPE_TIMER_FIRED" : "EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED",
    }),
  "has empty attributes": (events, index) =>
    replaceAt(events, index, { [toAttributesKey(events[index] as EventJson)]: {} }),
};

test.each(Object.keys(mutations))(
  "a history of which one event %s is refused at once, whichever it is",
  async (name) => {
    const mutate = mutations[name] as Mutate;
    const changed = delegate.map((_, index) => renumber({ events: mutate(delegate, index) }).events);
    // Without its last event it is one that goes on.
    const isWhole = ({ length }: EventJson[]) => /missing|places/.test(name) && length < delegate.length;
    const startedMs = Date.now();
    const outcomes = await replayAll(changed.slice(0, -1));
    for (const { status, text } of outcomes) {
      expect({ status, text }).toEqual({
        status: "unreadable",
        text: expect.stringMatching(/event|run id|workflow id/),
      });
    }
    expect(Date.now() - startedMs).toBeLessThan(10_000);
    const [last] = await replayAll(changed.slice(-1));
    expect(last?.status).toBe(isWhole(changed.at(-1) ?? []) ? "replays" : "unreadable");
  },
);

test("whatever is changed in a session's history, it is refused or replayed, and nothing is thrown but that", () => {
  for (const mutate of Object.values(mutations)) {
    for (const index of session.keys()) {
      const history = parse(renumber({ events: mutate(session, index) }).events);
      try {
        readFacts(history);
        checkEvents(history.events ?? []);
      } catch (error) {
        expect(error).toMatchObject({ name: "HistoryError", message: expect.not.stringContaining("\n") });
      }
    }
  }
});

const at = (type: string, nth = 0) =>
  session.flatMap(({ eventType }, index) => (eventType === `EVENT_TYPE_${type}` ? [index] : []))[nth] ?? -1;
const setAt = (type: string, fields: object, nth = 0): EventJson[] => {
  const event = session[at(type, nth)] as EventJson;
  const key = toAttributesKey(event);
  return replaceAt(session, at(type, nth), { [key]: { ...event[key], ...fields } });
};

test.each<[string, EventJson[], RegExp]>([
  [
    "a timer that fires names none",
    setAt("TIMER_FIRED", { startedEventId: "6" }),
    /^event 29 \(TimerFired\) has startedEventId 6, and that is no earlier TimerStarted$/,
  ],
  [
    "a timer that fires has another's id",
    setAt("TIMER_FIRED", { timerId: "77" }),
    /has another timerId than event 28/,
  ],
  [
    "a timer fires and is cancelled",
    setAt("TIMER_CANCELED", {
      startedEventId: "28",
      timerId: session[27]?.timerStartedEventAttributes.timerId,
    }),
    /^event 43 \(TimerCanceled\) is about event 28, as event 29 was already$/,
  ],
  [
    "an update that nobody accepted is answered",
    setAt("WORKFLOW_EXECUTION_UPDATE_COMPLETED", { acceptedEventId: "9" }, 1),
    /acceptedEventId 9, and that is no earlier WorkflowExecutionUpdateAccepted/,
  ],
  [
    "a child's end names another's beginning",
    setAt("CHILD_WORKFLOW_EXECUTION_COMPLETED", { startedEventId: "8" }),
    /startedEventId 8, and that is no earlier ChildWorkflowExecutionStarted/,
  ],
  [
    "an activity is asked for in a task that is long over",
    setAt("ACTIVITY_TASK_SCHEDULED", { workflowTaskCompletedEventId: "4" }, 1),
    /^event 13 \(ActivityTaskScheduled\) names workflow task 4, yet the one before it was completed by event 12$/,
  ],
  [
    "something comes after the end",
    [...session, session[38] as EventJson],
    /^event 61 \(WorkflowExecutionSignaled\) comes after WorkflowExecutionCompleted, which ends a history$/,
  ],
  [
    "a signal comes while a workflow task is under way",
    [...session.slice(0, 11), session[38] as EventJson],
    /^event 12 \(WorkflowExecutionSignaled\) comes between the start of a workflow task and its end$/,
  ],
])("%s: that is said with the event", (_, events, text) => {
  expect(() => check(events)).toThrow(text);
});

const recorded = (await readdir(toHistoryPath("x").replace(/[^/\\]+$/, ""))).filter((name) =>
  name.endsWith(".json"),
);

test.each(recorded)("%s contradicts itself nowhere, up to any of its events", async (name) => {
  const { events } = await loadHistory(name.replace(/\.json$/, ""));
  for (const index of events.keys()) check(events.slice(0, index + 1));
});

test("tasks that time out or fail, as after a reset, and what a worker may ignore are no contradiction", async () => {
  const [started, scheduled, begun] = delegate as [EventJson, EventJson, EventJson];
  const task = (type: string, attributes: object, extra = {}): EventJson => ({
    eventId: "0",
    eventTime: started.eventTime,
    eventType: `EVENT_TYPE_WORKFLOW_TASK_${type
      .replace(/[A-Z]/g, (letter) => `_${letter}`)
      .toUpperCase()
      .slice(1)}`,
    [`workflowTask${type}EventAttributes`]: attributes,
    ...extra,
  });
  const beginning = [
    started,
    scheduled,
    task("TimedOut", { scheduledEventId: "2", timeoutType: "TIMEOUT_TYPE_SCHEDULE_TO_START" }),
    scheduled,
    { ...begun, workflowTaskStartedEventAttributes: { scheduledEventId: "4" } },
    task("Failed", {
      scheduledEventId: "4",
      startedEventId: "5",
      cause: "WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW",
      baseRunId: "a",
      newRunId: "b",
    }),
    scheduled,
    { ...begun, workflowTaskStartedEventAttributes: { scheduledEventId: "7" } },
  ];
  const { events } = renumber({ events: beginning });
  expect(await replayAll([events])).toMatchObject([{ status: "replays", facts: { ended: "open" } }]);
  check([
    ...events.slice(0, 7),
    { eventId: "8", eventType: "EVENT_TYPE_LATER", workerMayIgnore: true, laterEventAttributes: {} } as never,
  ]);
});

test("the time-skipping test server's own way of numbering is no contradiction", async () => {
  const events = session.map((event): EventJson => {
    const key = toAttributesKey(event);
    const { startedEventId, acceptedEventId: _, ...attributes } = event[key];
    if (/^EVENT_TYPE_(WORKFLOW_TASK|WORKFLOW_EXECUTION_UPDATE)_COMPLETED$/.test(event.eventType))
      return { ...event, [key]: attributes };
    if (!event.eventType.startsWith("EVENT_TYPE_ACTIVITY") || startedEventId === undefined) return event;
    return { ...event, [key]: { ...event[key], startedEventId: `${Number(startedEventId) - 1}` } };
  });
  expect(await replayAll([events])).toMatchObject([{ status: "replays", text: "replays" }]);
  const swapped = mutations["has changed places with the next"]?.(events, 2) ?? [];
  expect(() => check(swapped)).toThrow(
    "event 3 (WorkflowTaskCompleted) ends a workflow task that has not started",
  );
});
