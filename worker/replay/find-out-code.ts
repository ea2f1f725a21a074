import { readAttributes } from "./describe-event.ts";
import { EventType, type History, type HistoryEvent } from "./history.ts";
import type { ReplayWorker } from "./replay-worker.ts";

interface Replaying {
  history: History;
  workflowId: string;
  worker: ReplayWorker;
}

const PROBE_MS = 20_000;
/** A name that nobody's activity or child has. */
const NOBODY = "subagents-replay-probe";

/** The SDK's names of what a workflow can ask for. */
const machines: Record<string, string> = {
  Activity: "schedules an activity",
  "Local activity": "runs a local activity",
  Timer: "starts a timer",
  "Child workflow": "starts a child workflow",
  "Complete workflow": "completes the workflow",
  "Fail workflow": "fails the workflow",
  "Cancel workflow": "ends the workflow as cancelled",
  "Continue as new workflow": "continues as new",
  "Signal external WF": "signals another workflow",
  "Cancel external WF": "cancels another workflow",
  Update: "answers an update",
  Change: "asks for a patch",
  ModifyWorkflowPropertiesMachine: "changes the memo",
  UpsertWorkflowSearchAttributesMachine: "sets search attributes",
};

/** Find out what the code does in place of an event, from the SDK's words. Undefined where these don't tell. */
export async function findOutCode(
  reason: string,
  event: HistoryEvent | undefined,
  replaying: Replaying,
): Promise<string | undefined> {
  const mismatch = readMismatch(reason);
  if (mismatch !== undefined) return toWords(mismatch);
  if (/^No command scheduled for event|could not find a matching command/.test(reason)) {
    return "does nothing that makes such an event";
  }
  const [, machine = ""] = /^(.*?)(?: machine)? (?:does not handle|cannot handle)/.exec(reason) ?? [];
  const probed = event === undefined ? undefined : await probe(machine, event, replaying);
  return probed === undefined ? machines[machine] : toWords(probed);
}

interface Mismatch {
  machine: string;
  part: string;
  name: string;
}

function readMismatch(reason: string): Mismatch | undefined {
  const found = /(\w[\w ]*?) (id|type) of .* '.*' does not match .* command '(.*)'$/s.exec(reason);
  if (found === null) return undefined;
  const [, machine = "", part = "", name = ""] = found;
  return { machine, part, name };
}

function toWords({ machine, part, name }: Mismatch): string {
  return `${machines[machine] ?? machine} of ${part} ${name}`;
}

/**
 * Learn which activity or child the code asks for: put one of nobody's in the event's place, and the SDK names the code's own. It compares an
 * activity's id first, which tells a person little: with that one set right it names the type.
 */
async function probe(
  machine: string,
  event: HistoryEvent,
  replaying: Replaying,
): Promise<Mismatch | undefined> {
  let found: Mismatch | undefined;
  for (const activityId of [NOBODY, undefined]) {
    const instead = toProbe(machine, event, activityId ?? found?.name ?? NOBODY);
    if (instead === undefined) return undefined;
    const before = (replaying.history.events ?? []).slice(0, Number(event.eventId) - 1);
    const { worker, workflowId } = replaying;
    const replayed = await worker.replay({ events: [...before, instead] }, workflowId, PROBE_MS);
    found = replayed.kind === "diverged" ? readMismatch(replayed.message) : found;
    if (found?.machine !== "Activity" || found.part === "type") return found;
  }
  return found;
}

function toProbe(machine: string, event: HistoryEvent, activityId: string): HistoryEvent | undefined {
  const workflowTaskCompletedEventId = readAttributes(event)?.workflowTaskCompletedEventId as never;
  const { eventId = null, eventTime = null } = event;
  if (!workflowTaskCompletedEventId) return undefined;
  const place = { eventId, eventTime };
  if (machine === "Activity") {
    const activityTaskScheduledEventAttributes = {
      activityId,
      activityType: { name: NOBODY },
      workflowTaskCompletedEventId,
    };
    const eventType = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED;
    return { ...place, eventType, activityTaskScheduledEventAttributes };
  }
  if (machine !== "Child workflow") return undefined;
  const startChildWorkflowExecutionInitiatedEventAttributes = {
    workflowId: NOBODY,
    workflowType: { name: NOBODY },
    workflowTaskCompletedEventId,
  };
  const eventType = EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED;
  return { ...place, eventType, startChildWorkflowExecutionInitiatedEventAttributes };
}
