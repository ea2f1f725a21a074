import type { LiveState } from "./activity-text.ts";
import type {
  PermissionStanding,
  SessionView,
  TaskCall,
  TaskStarted,
  TaskStopAnswer,
  TaskStopCall,
  TaskWaitAnswer,
  TaskWaitCall,
} from "./messages.ts";

import type { PermissionRequest } from "./permission-questions.ts";

/** What is needed of an `AbortSignal`, which this folder's types don't know. */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * A session as its main agent and every host sees it: one surface, no second path. The client implements it; a worker gives it to the
 * activities.
 *
 * Calls take a key that is stable over retries: the same key is the same call. A caller's mistake rejects with {@link SessionRefusal}.
 */
export interface SessionPort {
  task(call: TaskCall, callKey: string): Promise<TaskStarted>;
  /** Waits as long as the call asks, through restarts of workers; `signal` ends the waiting and changes nothing in the session. */
  taskWait(call: TaskWaitCall, callKey: string, signal?: EndSignal): Promise<TaskWaitAnswer>;
  taskStop(call: TaskStopCall, callKey: string): Promise<TaskStopAnswer>;
  view(): Promise<SessionView>;
  /** The present mode, and how the question with this key stands. */
  permission(key: string): Promise<PermissionStanding>;
  /** Put a question; the same key again changes nothing. */
  askPermission(request: PermissionRequest): Promise<void>;
  /** What each of these delegates is doing, by the server's own record; unknown with a reason where it can't be told. */
  live(delegationIds: readonly string[]): Promise<Map<string, LiveState>>;
}

/** A session refused a call because of the caller's mistake; nothing has changed. `code` is one of `refusals`. */
export class SessionRefusal extends Error {
  override readonly name = "SessionRefusal";
  readonly code: string;

  constructor(code: string, text: string) {
    super(text);
    this.code = code;
  }
}
