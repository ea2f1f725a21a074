import { bound } from "../../core/text.ts";
import { describeEvent, type EventDescription, readAttributes } from "./describe-event.ts";
import { findOutCode } from "./find-out-code.ts";
import { EventType, type History, type HistoryEvent } from "./history.ts";
import { locate } from "./locate.ts";
import type { Replayed, ReplayWorker } from "./replay-worker.ts";

/** Where a history and the code part, and how. */
export interface Divergence {
  /** The first event that the code can't explain. */
  event?: EventDescription;
  /** The events of the workflow task that decided it: scheduled, started and, if it got so far, completed. */
  workflowTask?: number[];
  /** What the code did instead, where that can be told. */
  code?: string;
  /** What the SDK says. */
  reason: string;
  /** Where in the code, if it threw. */
  stack?: string;
  /** The events before and after. */
  around: EventDescription[];
}

const MAX_REASON_CHARACTERS = 1_000;
const MAX_STACK_CHARACTERS = 4_000;
const EVENTS_AROUND = 3;

/** Explain why a history does not replay. Costs some more replays of its beginnings. */
export async function explain(
  history: History,
  workflowId: string,
  replayed: Exclude<Replayed, { kind: "replays" }>,
  worker: ReplayWorker,
): Promise<Divergence> {
  const events = history.events ?? [];
  const event = replayed.kind === "stuck" ? undefined : await locate(history, workflowId, worker);
  const reason = replayed.message.replace(/^\[TMPRL1100\] (?:Nondeterminism error: )?/, "");
  const isDivergence = replayed.kind === "diverged";
  const code = isDivergence ? await findOutCode(reason, event, { history, workflowId, worker }) : undefined;
  return {
    ...(event === undefined
      ? {}
      : { event: describeEvent(event, events), workflowTask: findTask(event, events) }),
    ...(code === undefined ? {} : { code }),
    reason: bound(reason, MAX_REASON_CHARACTERS, () => "…"),
    ...(replayed.stack === undefined
      ? {}
      : { stack: bound(replayed.stack, MAX_STACK_CHARACTERS, () => "…") }),
    around: event === undefined ? [] : findNeighbours(event, events),
  };
}

function findNeighbours(event: HistoryEvent, events: readonly HistoryEvent[]): EventDescription[] {
  const index = Number(event.eventId) - 1;
  return events
    .slice(Math.max(0, index - EVENTS_AROUND), index + EVENTS_AROUND + 1)
    .map((neighbour) => describeEvent(neighbour, events));
}

/** The workflow task whose code decided on an event: the one that it names, else the latest that had begun. */
function findTask(event: HistoryEvent, events: readonly HistoryEvent[]): number[] {
  const index = Number(event.eventId) - 1;
  const named = event.workflowTaskCompletedEventAttributes
    ? index + 1
    : Number(readAttributes(event)?.workflowTaskCompletedEventId ?? 0);
  const completed = events[named - 1]?.workflowTaskCompletedEventAttributes;
  if (completed) return [Number(completed.scheduledEventId), Number(completed.startedEventId), named];
  const started = events
    .slice(0, index + 1)
    .findLast(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED);
  if (started === undefined) return [];
  return [Number(started.workflowTaskStartedEventAttributes?.scheduledEventId), Number(started.eventId)];
}
