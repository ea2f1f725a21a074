import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowUpdateFailedError,
} from "@temporalio/client";
import { ApplicationFailure, WorkflowNotFoundError } from "@temporalio/common";
import { refusals } from "../core/messages.ts";
import { SessionRefusal } from "../core/session-port.ts";
import { RetryableCall } from "./call-server.ts";
import { SessionError, sessionErrorCodes } from "./session-error.ts";

const refusalCodes: ReadonlySet<string> = new Set(Object.values(refusals));
/** The server's word for a run that ended while an update of it was still being worked on. */
const RUN_ENDED = "AcceptedUpdateCompletedWorkflow";
/** The server's word for an update that it took back unseen, as happens when many arrive while a workflow's step is being carried out. */
const NOT_PROCESSED = "UnprocessedUpdate";

/** Turn the SDK's error of a call of a session into ours. What may succeed a moment later becomes a {@link RetryableCall} or stays as it is. */
export async function explainError(client: Client, sessionId: string, error: unknown): Promise<unknown> {
  if (error instanceof WorkflowNotFoundError) return await explainMissing(client, sessionId, error);
  if (!(error instanceof WorkflowUpdateFailedError)) return error;
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) return error;
  if (cause.type === RUN_ENDED) return await explainMissing(client, sessionId, error);
  if (cause.type === NOT_PROCESSED) return new RetryableCall(cause.message, { cause: error });
  if (cause.type && refusalCodes.has(cause.type)) return new SessionRefusal(cause.type, cause.message);
  return new SessionError(sessionErrorCodes.failed, cause.message, error);
}

/** A run that is gone is the end of its session, or has made way for the session's next run. */
async function explainMissing(client: Client, sessionId: string, cause: Error): Promise<Error> {
  const { status } = await describeSession(client, sessionId);
  return status.name === "RUNNING"
    ? new RetryableCall("the session continues as new", { cause })
    : toClosedError(sessionId, status.name.toLowerCase().replaceAll("_", " "));
}

/** Read the server's record of a session. @throws SessionError Session.NotFound. */
export async function describeSession(
  client: Client,
  sessionId: string,
): Promise<WorkflowExecutionDescription> {
  try {
    return await client.workflow.getHandle(sessionId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw toMissingError(client, sessionId, error);
    throw error;
  }
}

export function toMissingError(client: Client, sessionId: string, cause?: unknown): SessionError {
  return new SessionError(
    sessionErrorCodes.notFound,
    `there is no session ${JSON.stringify(sessionId.slice(0, 200))} in namespace ${client.options.namespace}`,
    cause,
  );
}

/** @param status how it ended; `completed` is the usual end of a session that was closed */
function toClosedError(sessionId: string, status: string): SessionError {
  const how = status === "completed" ? "" : ` (${status})`;
  return new SessionError(
    sessionErrorCodes.closed,
    `${sessionId} is closed${how}: it can be read, and takes nothing more`,
  );
}
