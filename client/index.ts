/** The client for products: start sessions, send messages, follow and answer delegates. */
export type { LiveState } from "../core/activity-text.ts";
export type { Delegation } from "../core/delegation.ts";
export type {
  SessionView,
  StopOutcome,
  TaskCall,
  TaskStarted,
  TaskStopAnswer,
  TaskStopCall,
  TaskWaitAnswer,
  TaskWaitCall,
} from "../core/messages.ts";
export { refusals } from "../core/messages.ts";
export type { SessionInput, Turn } from "../core/session.ts";
export { type SessionPort, SessionRefusal } from "../core/session-port.ts";
export type { DelegationStatus, FailureCode, RunError, Usage } from "../core/status.ts";
export { toTaskListText, toTaskStartedText, toTaskStopText } from "../core/task-list.ts";
export { toTaskWaitText } from "../core/task-wait.ts";
export type { TraceContext } from "../core/trace-context.ts";
export * from "./session-client.ts";
export type { SessionStory } from "./story/session-story.ts";
