import { toMs } from "../../core/timestamp.ts";
import { type HistoryEvent, toTypeName } from "./history.ts";

/** One event as a person names it. */
export interface EventDescription {
  eventId: number;
  /** As in Temporal Web, such as `ActivityTaskScheduled`. */
  type: string;
  /** What it is about: an activity's type, a child's id, a timer, a signal; empty where it is nothing of its own. */
  name: string;
  time: string;
}

/** Describe an event of a history; `events` is all of it, since an activity's end names only the event of its beginning. */
export function describeEvent(event: HistoryEvent, events: readonly HistoryEvent[]): EventDescription {
  const beginning = findBeginning(event, events);
  const { eventTime } = event;
  return {
    eventId: Number(event.eventId),
    type: toTypeName(event),
    name: toName(event) || (beginning === undefined ? "" : toName(beginning)),
    time: eventTime ? new Date(toMs(eventTime)).toISOString() : "",
  };
}

function findBeginning(event: HistoryEvent, events: readonly HistoryEvent[]): HistoryEvent | undefined {
  const attributes = readAttributes(event);
  if (attributes === undefined || toTypeName(event).startsWith("WorkflowTask")) return undefined;
  const id = attributes.scheduledEventId ?? attributes.startedEventId ?? attributes.initiatedEventId;
  const beginning = events[Number(id ?? 0) - 1];
  return beginning === event ? undefined : beginning;
}

/** Which fields tell what an event is about, the first that it has. */
function toName(event: HistoryEvent): string {
  const attributes = readAttributes(event);
  if (attributes === undefined) return "";
  const { activityType, activityId, workflowExecution, workflowId, workflowType, timerId } = attributes;
  if (activityType) return `${toText(activityType, "name")} (activity ${activityId})`;
  const type = toTypeName(event);
  if (type.includes("Child") || type.includes("External")) {
    const id = workflowId || toText(workflowExecution, "workflowId");
    const what = toText(workflowType, "name") || attributes.signalName;
    return what ? `${what} (${id})` : `${id}`;
  }
  if (type === "WorkflowExecutionStarted") return toText(workflowType, "name");
  if (timerId) return `timer ${timerId}`;
  const update = attributes.acceptedRequest as { input?: { name?: string } } | undefined;
  const name =
    update?.input?.name ?? attributes.signalName ?? attributes.markerName ?? attributes.operation ?? "";
  return String(name);
}

function toText(value: unknown, key: string): string {
  const text = (value as Record<string, unknown> | null | undefined)?.[key];
  return typeof text === "string" ? text : "";
}

/** An event's own fields, whatever its type. */
export function readAttributes(event: HistoryEvent): Record<string, unknown> | undefined {
  const entry = Object.entries(event).find(([key, value]) => key.endsWith("EventAttributes") && value);
  return entry?.[1] as Record<string, unknown> | undefined;
}
