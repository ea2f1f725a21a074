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

/** A server carries out ten updates of one workflow at a time. Some places are kept for stops, answers and new tasks, and observers never take all of the rest. */
const MAX_OPEN_WAITS = 7;
const MAX_OBSERVED_WAITS = 4;

/** Refuse a TaskWait for which there is no place now. @throws ApplicationFailure Session.TooManyWaits. */
export function checkWaits(session: { openWaits: number }, isObserver: boolean): void {
  const limit = isObserver ? MAX_OBSERVED_WAITS : MAX_OPEN_WAITS;
  if (session.openWaits < limit) return;
  refuse(
    refusals.tooManyWaits,
    `${session.openWaits} calls of TaskWait are open already: ask again in a moment`,
  );
}
