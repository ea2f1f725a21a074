import type { Delegation } from "./delegation.ts";
import type { Allowance, PermissionQuestionRecord } from "./permission-questions.ts";
import type { PermissionMode } from "./permissions.ts";
import type { SessionInput, SessionState, Turn } from "./session.ts";
import type { FinalStatus } from "./status.ts";
import type { TaskInput, TaskStopInput, TaskWaitInput } from "./task-calls.ts";
import type { TraceContext } from "./trace-context.ts";

/** Wire contract: names that must not change while a session runs. A test pins the list. */
export const workflowNames = { session: "sessionWorkflow", delegate: "delegateWorkflow" } as const;
export const updateNames = {
  send: "send",
  task: "task",
  taskWait: "taskWait",
  taskStop: "taskStop",
  abortTurn: "abortTurn",
  close: "close",
  answerPermission: "answerPermission",
  setPermissionMode: "setPermissionMode",
} as const;
export const queryNames = {
  session: "session",
  report: "report",
  turn: "turn",
  permission: "permission",
} as const;
export const signalNames = {
  delegateSettled: "delegateSettled",
  permissionAsked: "permissionAsked",
  stop: "stop",
} as const;

/** Task queue of sessions and turns unless another is named. */
export const DEFAULT_TASK_QUEUE = "subagents";
/** Task queue of the delegates that belong to a session's queue: turns parked in TaskWait never hold a delegate's slot. */
export function toDelegateTaskQueue(taskQueue: string): string {
  return `${taskQueue}-delegates`;
}

/** Workflow id of a delegate. */
export function toDelegateWorkflowId(sessionId: string, delegationId: string): string {
  return `${sessionId}/${delegationId}`;
}

/** Types of the failures that an update refuses a caller's mistake with; nothing has changed then. */
export const refusals = {
  badInput: "Input.Invalid",
  unknownAgent: "Task.UnknownAgent",
  unresolvedModel: "Task.UnresolvedModel",
  capReached: "Task.CapReached",
  contractMode: "Task.ContractMode",
  turnOver: "Task.TurnOver",
  cannotResume: "Task.CannotResume",
  turnRunning: "Send.TurnRunning",
  closing: "Session.Closing",
  unknownQuestion: "Permission.UnknownQuestion",
  tooManyCalls: "Session.TooManyCalls",
  tooManyWaits: "Session.TooManyWaits",
} as const;

/** A call of Task by the main agent (with its turn and call key) or by another host (without). */
export interface TaskCall {
  input: TaskInput;
  /** Stable over retries of the same call; the same key is the same delegation. */
  callKey?: string;
  /** The session's turn that the caller belongs to; refused once that turn is over. */
  turn?: number;
  /** What the delegate's spans belong under. */
  trace?: TraceContext;
}

export interface TaskStarted {
  delegationId: string;
  agent: string;
  model: string;
  tools: string[];
  /** What the caller should know, such as a definition that changed since the delegation it resumes. */
  notes: string[];
}

export interface TaskWaitCall {
  input: TaskWaitInput;
  /** An observer's wait does not count as handing the report to the main agent. */
  isObserver?: boolean;
}

export interface TaskWaitAnswer {
  waitedSeconds: number;
  isTimedOut: boolean;
  /** In the order asked; reports are bounded so that all of them together fit the answer. */
  targets: Delegation[];
  /** Length of each target's report before it was bounded. */
  reportLengths: number[];
  unknown: string[];
  noLongerKept: string[];
  /** Workflow time of the answer. */
  nowMs: number;
}

export interface TaskStopCall {
  input: TaskStopInput;
}

export type StopOutcome =
  | { delegationId: string; outcome: "stopped" | "not-confirmed" | "unknown" | "no-longer-kept" }
  | { delegationId: string; outcome: "already"; status: FinalStatus };

export interface TaskStopAnswer {
  outcomes: StopOutcome[];
}

export interface SendCall {
  prompt: string;
  /** The same key is the same message. */
  key?: string;
  /** What the turn's spans belong under. */
  trace?: TraceContext;
}

/** What became of an answer: a late or second one changes nothing and is told how the question stands. */
export interface PermissionAnswered {
  question: PermissionQuestionRecord;
  hasTakenEffect: boolean;
}

/** How a run's call stands with its session: the present mode, and the question about the call if one was asked. */
export interface PermissionStanding {
  mode: PermissionMode;
  allowances: Allowance[];
  question: PermissionQuestionRecord | undefined;
}

/** What a query shows of a session. Reports and answers are read one by one. */
export interface SessionView {
  sessionId: string;
  input: SessionInput;
  permissionMode: PermissionMode;
  turns: Turn[];
  delegations: Delegation[];
  /** Open ones first, the oldest first; then the latest that were answered. */
  questions: PermissionQuestionRecord[];
  runningCap: number;
  isClosing: boolean;
  nowMs: number;
}

/** The session workflow's arguments; `state` is set when it continues as new. */
export type SessionArguments = [input: SessionInput, state?: SessionState];
