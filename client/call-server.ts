import { setTimeout as sleep } from "node:timers/promises";
import { type Client, isGrpcServiceError } from "@temporalio/client";
import { SessionError, sessionErrorCodes } from "./session-error.ts";

/** gRPC's numbers of the states in which the same call may succeed a moment later. */
const grpcCodes = {
  cancelled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
} as const;

const FIRST_DELAY_MS = 250;
const LAST_DELAY_MS = 5000;

export interface CallBounds {
  /** The whole call, retries included. */
  patienceMs: number;
  /** Ends the call at once; it may have taken effect. */
  signal?: AbortSignal | undefined;
  /** Whether a worker must answer too: silence means that there is none. */
  isForWorker?: boolean;
}

/** Thrown inside of {@link callServer}: what failed now may succeed a moment later. */
export class RetryableCall extends Error {}

/**
 * Call the server until it answers or the patience is at its end. `call` must be safe to repeat.
 *
 * Repeated are calls that met a server that is away, overloaded or closing a run. What the server says for good is thrown as it is.
 *
 * @throws SessionError Session.Unreachable or Session.NoWorker at the end of the patience; the signal's reason if it was aborted.
 */
export async function callServer<Answer>(
  client: Client,
  bounds: CallBounds,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const deadline = Date.now() + bounds.patienceMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, LAST_DELAY_MS)) {
    bounds.signal?.throwIfAborted();
    try {
      return await callOnce(client, deadline, bounds.signal, call);
    } catch (error) {
      bounds.signal?.throwIfAborted();
      if (!isTransient(error)) throw error;
      const pauseMs = delayMs * (0.8 + Math.random() * 0.4);
      if (Date.now() + pauseMs >= deadline) throw toPatienceError(error, bounds);
      await sleep(pauseMs, undefined, { signal: bounds.signal }).catch(() => undefined);
    }
  }
}

function callOnce<Answer>(
  client: Client,
  deadline: number,
  signal: AbortSignal | undefined,
  call: () => Promise<Answer>,
): Promise<Answer> {
  return client.withDeadline(deadline, () =>
    signal === undefined ? call() : client.withAbortSignal(signal, call),
  );
}

function isTransient(error: unknown): boolean {
  if (error instanceof RetryableCall) return true;
  const code = toGrpcCode(error);
  // No later try of this run of the workflow is taken.
  if (/limit on the total number of distinct updates/i.test(toGrpcDetails(error))) return false;
  if (code === grpcCodes.internal) return /RST_STREAM|without gRPC status/i.test(describeCause(error));
  return (
    code === grpcCodes.unavailable ||
    code === grpcCodes.resourceExhausted ||
    code === grpcCodes.aborted ||
    code === grpcCodes.unknown ||
    code === grpcCodes.deadlineExceeded ||
    // Our own signal was looked at before: a connection was cut while the call was under way.
    code === grpcCodes.cancelled ||
    // What the server says of a queue that no worker has polled for minutes, and of a run that has just begun.
    code === grpcCodes.failedPrecondition
  );
}

/** A server that can't be reached mostly says so itself; one that stays silent is waiting for a worker. */
function toPatienceError(error: unknown, { patienceMs, isForWorker = false }: CallBounds): SessionError {
  const code = toGrpcCode(error);
  const seconds = Math.round(patienceMs / 1000);
  const isSilence = code === grpcCodes.deadlineExceeded || code === grpcCodes.failedPrecondition;
  if (isForWorker && isSilence) {
    return new SessionError(
      sessionErrorCodes.noWorker,
      `no worker answered for the session within ${seconds} s: start one on its task queue`,
      error,
    );
  }
  return new SessionError(
    sessionErrorCodes.unreachable,
    `the Temporal server did not answer within ${seconds} s: ${describeCause(error)}`,
    error,
  );
}

function toGrpcDetails(error: unknown): string {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isGrpcServiceError(current)) return current.details;
  }
  return "";
}

/** The gRPC state that an error of the SDK stands for, if any. */
function toGrpcCode(error: unknown): number | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isGrpcServiceError(current)) return current.code;
  }
  return undefined;
}

function describeCause(error: unknown): string {
  let text = String(error);
  for (let current = error; current instanceof Error; current = current.cause) text = current.message;
  return text;
}
