/** A field of an event that names an earlier one. */
export interface Reference {
  field: string;
  /** The types of event that it may name. */
  to: readonly string[];
  /** What never began has no beginning to name. */
  isOptional?: true;
  /** What it names happens once: a timer fires once. */
  isOnce?: true;
  /** The field that both have in common: an activity's end and its start name the same scheduled event. */
  common?: string;
}

const task: Reference = { field: "scheduledEventId", to: ["WorkflowTaskScheduled"] };
const taskStart: Reference = {
  field: "startedEventId",
  to: ["WorkflowTaskStarted"],
  common: task.field,
};
const activity: Reference = { field: "scheduledEventId", to: ["ActivityTaskScheduled"] };
const activityEnd: readonly Reference[] = [
  { ...activity, isOnce: true },
  { field: "startedEventId", to: ["ActivityTaskStarted"], isOptional: true, common: activity.field },
];
const timerEnd: readonly Reference[] = [
  { field: "startedEventId", to: ["TimerStarted"], isOnce: true, common: "timerId" },
];
const child: Reference = {
  field: "initiatedEventId",
  to: ["StartChildWorkflowExecutionInitiated"],
  isOnce: true,
};
const childEnd: readonly Reference[] = [
  child,
  {
    field: "startedEventId",
    to: ["ChildWorkflowExecutionStarted"],
    isOptional: true,
    common: "initiatedEventId",
  },
];
const signal: Reference = {
  field: "initiatedEventId",
  to: ["SignalExternalWorkflowExecutionInitiated"],
  isOnce: true,
};
const cancel: Reference = { ...signal, to: ["RequestCancelExternalWorkflowExecutionInitiated"] };
const nexus: Reference = { field: "scheduledEventId", to: ["NexusOperationScheduled"] };
const nexusEnd: readonly Reference[] = [{ ...nexus, isOnce: true }];

/**
 * Which earlier events an event names, by its type. Fields that name events of other histories are none of these, and neither are those that servers
 * fill in differently.
 */
export const references: Readonly<Record<string, readonly Reference[]>> = {
  WorkflowTaskStarted: [{ ...task, isOnce: true }],
  WorkflowTaskCompleted: [task, taskStart],
  WorkflowTaskFailed: [task, { ...taskStart, isOptional: true }],
  WorkflowTaskTimedOut: [task, { ...taskStart, isOptional: true }],
  ActivityTaskStarted: [{ ...activity, isOnce: true }],
  ActivityTaskCompleted: activityEnd,
  ActivityTaskFailed: activityEnd,
  ActivityTaskTimedOut: activityEnd,
  ActivityTaskCanceled: activityEnd,
  ActivityTaskCancelRequested: [activity],
  TimerFired: timerEnd,
  TimerCanceled: timerEnd,
  ChildWorkflowExecutionStarted: [child],
  StartChildWorkflowExecutionFailed: [child],
  ChildWorkflowExecutionCompleted: childEnd,
  ChildWorkflowExecutionFailed: childEnd,
  ChildWorkflowExecutionCanceled: childEnd,
  ChildWorkflowExecutionTimedOut: childEnd,
  ChildWorkflowExecutionTerminated: childEnd,
  ExternalWorkflowExecutionSignaled: [signal],
  SignalExternalWorkflowExecutionFailed: [signal],
  ExternalWorkflowExecutionCancelRequested: [cancel],
  RequestCancelExternalWorkflowExecutionFailed: [cancel],
  NexusOperationStarted: [nexus],
  NexusOperationCancelRequested: [nexus],
  NexusOperationCompleted: nexusEnd,
  NexusOperationFailed: nexusEnd,
  NexusOperationCanceled: nexusEnd,
  NexusOperationTimedOut: nexusEnd,
  WorkflowExecutionUpdateCompleted: [
    { field: "acceptedEventId", to: ["WorkflowExecutionUpdateAccepted"], isOnce: true },
  ],
};

/** What a workflow's code asked for: it names the workflow task in which it did, and follows it before the next one is scheduled. */
export const commands: ReadonlySet<string> = new Set([
  "ActivityTaskScheduled",
  "ActivityTaskCancelRequested",
  "TimerStarted",
  "TimerCanceled",
  "MarkerRecorded",
  "StartChildWorkflowExecutionInitiated",
  "SignalExternalWorkflowExecutionInitiated",
  "RequestCancelExternalWorkflowExecutionInitiated",
  "UpsertWorkflowSearchAttributes",
  "WorkflowPropertiesModified",
  "NexusOperationScheduled",
  "NexusOperationCancelRequested",
  "WorkflowExecutionCompleted",
  "WorkflowExecutionFailed",
  "WorkflowExecutionCanceled",
  "WorkflowExecutionContinuedAsNew",
]);

/** Answers to updates follow a workflow task in the same way, yet don't name it. */
export const answers: ReadonlySet<string> = new Set([
  "WorkflowExecutionUpdateAccepted",
  "WorkflowExecutionUpdateCompleted",
]);

/** What can follow the start of a workflow task. Servers keep everything else back until the task has ended. */
export const afterStart: ReadonlySet<string> = new Set([
  "WorkflowTaskCompleted",
  "WorkflowTaskFailed",
  "WorkflowTaskTimedOut",
  "WorkflowExecutionTerminated",
  "WorkflowExecutionTimedOut",
]);

/** Of these fields an event has at least one, whatever wrote it. */
export const essentials: Readonly<Record<string, readonly string[]>> = {
  WorkflowExecutionStarted: ["workflowType"],
  WorkflowTaskScheduled: ["taskQueue", "startToCloseTimeout", "attempt"],
  WorkflowExecutionSignaled: ["signalName"],
  WorkflowExecutionUpdateAccepted: ["protocolInstanceId"],
  ActivityTaskScheduled: ["activityType"],
  TimerStarted: ["timerId"],
  MarkerRecorded: ["markerName"],
  StartChildWorkflowExecutionInitiated: ["workflowType"],
};

export const endings: ReadonlyMap<string, string> = new Map([
  ["WorkflowExecutionCompleted", "completed"],
  ["WorkflowExecutionFailed", "failed"],
  ["WorkflowExecutionTimedOut", "timed out"],
  ["WorkflowExecutionCanceled", "cancelled"],
  ["WorkflowExecutionTerminated", "terminated"],
  ["WorkflowExecutionContinuedAsNew", "continued as new"],
]);
