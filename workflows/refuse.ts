import { ApplicationFailure } from "@temporalio/workflow";
import { refusals } from "../core/messages.ts";

/** Refuse a caller's mistake; nothing has changed. @throws ApplicationFailure, not retryable, with a type of `refusals`. */
export function refuse(type: string, text: string): never {
  throw ApplicationFailure.nonRetryable(text, type);
}

/** Longest key of a call that a session remembers. */
export const MAX_KEY_CHARACTERS = 300;
export const KEY_TOO_LONG = `a call's key must not be longer than ${MAX_KEY_CHARACTERS} characters`;

/** A server takes 2,000 updates of one run of a workflow; the rest is kept for stopping, answering, aborting and closing. */
const MAX_WAITS_AND_TASKS = 1500;

/** Refuse a Task or a TaskWait when a turn has used up what a server takes. @throws ApplicationFailure Session.TooManyCalls. */
export function checkUpdates(session: { updates: number }): void {
  if (session.updates < MAX_WAITS_AND_TASKS) return;
  refuse(
    refusals.tooManyCalls,
    `this session has had ${MAX_WAITS_AND_TASKS} calls of Task and TaskWait since its last rest: end the turn. Stopping delegates is still possible.`,
  );
}
