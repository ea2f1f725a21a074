import { ApplicationFailure } from "@temporalio/workflow";

/** Refuse a caller's mistake; nothing has changed. @throws ApplicationFailure, not retryable, with a type of `refusals`. */
export function refuse(type: string, text: string): never {
  throw ApplicationFailure.nonRetryable(text, type);
}
