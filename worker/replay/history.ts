import proto, { type temporal } from "@temporalio/proto";
import { endings } from "./event-rules.ts";

export type History = temporal.api.history.v1.IHistory;
export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

export const { EventType } = proto.temporal.api.enums.v1;

/** A history can't be replayed as it stands: its file, or what it holds, is at fault, not the code. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
  /** Nothing goes by that name, or it is not kept any more. */
  readonly isMissing: boolean;

  constructor(text: string, { isMissing = false } = {}) {
    super(text);
    this.isMissing = isMissing;
  }
}

/** What a history says of itself. */
export interface HistoryFacts {
  workflowId: string;
  runId: string;
  workflowType: string;
  events: number;
  /** How the run ended, such as `completed`; `open` if it had not when the history was taken. */
  ended: string;
  /** Whether any of its workflow's code has run yet. */
  hasWork: boolean;
}

/**
 * Read what a history says of itself, and see that it is whole. The SDK takes much for granted: without this a history that lacks its beginning
 * would make it wait for ever.
 *
 * @throws HistoryError
 */
export function readFacts({ events }: History): HistoryFacts {
  const first = events?.[0];
  if (!events || first === undefined) throw new HistoryError("it has no events");
  const started = first.workflowExecutionStartedEventAttributes;
  if (first.eventType !== EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED || !started) {
    throw new HistoryError(
      `its first event is ${toTypeName(first)} (event ${first.eventId}), not WorkflowExecutionStarted: the beginning is missing`,
    );
  }
  checkOrder(events);
  const runId = started.originalExecutionRunId || started.firstExecutionRunId;
  if (!runId) throw new HistoryError("its started event has no run id");
  return {
    // Servers before 1.20 did not write it down.
    workflowId: started.workflowId || "unknown",
    runId,
    workflowType: started.workflowType?.name ?? "",
    events: events.length,
    ended: endings.get(toTypeName(events.at(-1) ?? first)) ?? "open",
    hasWork: events.some(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED),
  };
}

function checkOrder(events: readonly HistoryEvent[]): void {
  for (const [index, event] of events.entries()) {
    if (Number(event.eventId) === index + 1) continue;
    const before = index === 0 ? "it begins with event" : `event ${index} is followed by event`;
    throw new HistoryError(`${before} ${event.eventId}: events are missing, or not in order`);
  }
}

/** A type of event as Temporal Web writes it, such as `ActivityTaskScheduled`. */
export function toTypeName({ eventType }: HistoryEvent): string {
  const name = EventType[eventType ?? 0] ?? `EVENT_TYPE_${eventType}`;
  return name
    .replace(/^EVENT_TYPE_/, "")
    .toLowerCase()
    .replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
