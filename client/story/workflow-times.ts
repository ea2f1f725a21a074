import type { temporal } from "@temporalio/proto";
import { toMs } from "../../core/timestamp.ts";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** A step of a workflow that was carried out: its clock stood still at `atMs` all the while. */
interface Step {
  startedIndex: number;
  completedIndex: number;
  atMs: number;
}

/**
 * Tell for each event what a workflow's own clock showed as it did that, or learnt of it. A session's records have those times; the server writes an
 * event down some milliseconds later, or, of a message, before a worker takes it up. What no step has taken up yet has the server's time.
 */
export function toWorkflowTimes(events: readonly HistoryEvent[]): number[] {
  const steps = findSteps(events);
  let done = -1;
  return events.map((event, index) => {
    while ((steps[done + 1]?.completedIndex ?? Number.POSITIVE_INFINITY) < index) done += 1;
    let next = done + 1;
    while ((steps[next]?.startedIndex ?? Number.POSITIVE_INFINITY) < index) next += 1;
    const step = steps[isOwn(event) ? done : next];
    return isOwn(event) || isNews(event) ? (step?.atMs ?? toMs(event.eventTime)) : toMs(event.eventTime);
  });
}

function findSteps(events: readonly HistoryEvent[]): Step[] {
  const indexes = new Map(events.map(({ eventId }, index) => [String(eventId), index]));
  return events.flatMap(({ workflowTaskCompletedEventAttributes: completed }, completedIndex) => {
    const startedIndex = indexes.get(String(completed?.startedEventId));
    const started = startedIndex === undefined ? undefined : events[startedIndex];
    if (!completed || startedIndex === undefined || started === undefined) return [];
    return [{ startedIndex, completedIndex, atMs: toMs(started.eventTime) }];
  });
}

/** What the session's code did in a step. */
function isOwn(event: HistoryEvent): boolean {
  return Boolean(
    event.workflowExecutionUpdateAcceptedEventAttributes ??
      event.workflowExecutionUpdateCompletedEventAttributes ??
      event.startChildWorkflowExecutionInitiatedEventAttributes ??
      event.signalExternalWorkflowExecutionInitiatedEventAttributes ??
      event.workflowPropertiesModifiedEventAttributes,
  );
}

/** What the session's code learns in the step that follows. */
function isNews(event: HistoryEvent): boolean {
  return Boolean(
    event.workflowExecutionSignaledEventAttributes ??
      event.startChildWorkflowExecutionFailedEventAttributes ??
      event.childWorkflowExecutionCompletedEventAttributes ??
      event.childWorkflowExecutionFailedEventAttributes ??
      event.childWorkflowExecutionCanceledEventAttributes ??
      event.childWorkflowExecutionTimedOutEventAttributes ??
      event.childWorkflowExecutionTerminatedEventAttributes,
  );
}
