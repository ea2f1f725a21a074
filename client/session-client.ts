import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
} from "@temporalio/client";
import { WorkflowIdReusePolicy } from "@temporalio/common";
import { DEFAULT_TASK_QUEUE, type SessionArguments, workflowNames } from "../core/messages.ts";
import { AGENT_SEARCH_ATTRIBUTE } from "../core/search-attributes.ts";
import { type SessionInput, sessionInputSchema } from "../core/session.ts";
import { bound, toOneLine } from "../core/text.ts";
import { callServer } from "./call-server.ts";
import { toMissingError } from "./explain-error.ts";
import { QUERY_PATIENCE_MS } from "./session-deadlines.ts";
import { SessionError, sessionErrorCodes } from "./session-error.ts";
import { SessionHandle } from "./session-handle.ts";
import { createSessionId } from "./session-id.ts";

export { SessionError, type SessionErrorCode, sessionErrorCodes } from "./session-error.ts";
export { SessionHandle } from "./session-handle.ts";
export { createSessionId } from "./session-id.ts";

/** Characters of a title in Temporal Web; the server's bound is 400 bytes. */
const MAX_SUMMARY_CHARACTERS = 200;
/** Characters of the first prompt in a session's memo, which is sent with every list. */
const MAX_MEMO_CHARACTERS = 500;
const MAX_DETAILS_CHARACTERS = 4000;
/** The server's bound for a workflow id. */
const MAX_ID_CHARACTERS = 1000;
const DEFAULT_LIST_LIMIT = 50;
/** Running delegates that are counted for a list: a hundred full sessions. */
const MAX_COUNTED_DELEGATES = 1000;

export interface StartOptions {
  /** Workflow id; a new one is made by default. Never used twice, not even after the session was closed. */
  sessionId?: string;
  /** The first message, to name the session by in Temporal Web and in lists. It is not sent: `send` does that. */
  prompt?: string;
  /** Where the session's workers listen. Default `subagents`. */
  taskQueue?: string;
}

export interface ListFilter {
  /** Only sessions that are open, or only those that are closed. */
  isOpen?: boolean;
  /** At most so many, the latest first. Default 50. */
  limit?: number;
}

/** A session as a list shows it, by the server's records alone: it needs no worker. */
export interface SessionSummary {
  sessionId: string;
  /** `open`, or how its workflow ended. */
  status: "open" | "closed" | "cancelled" | "terminated" | "failed" | "timed_out" | "unknown";
  /** The beginning of the first message; empty if the session was started without one. */
  prompt: string;
  workspace: string;
  taskQueue: string;
  startedAtMs: number;
  closedAtMs: number | undefined;
  runningDelegates: number;
}

/**
 * Start, find and list sessions of one namespace.
 *
 * Takes any Temporal `Client`; its data converter and codecs are used throughout. Needs no worker itself, but a session only moves with one.
 */
export class SessionClient {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Start a session. It waits for its first message.
   *
   * @throws SessionError Session.AlreadyExists; ZodError if the input is not a session's.
   */
  async start(input: SessionInput, options: StartOptions = {}): Promise<SessionHandle> {
    const sessionId = options.sessionId ?? createSessionId();
    const prompt = options.prompt ?? "";
    const args: SessionArguments = [sessionInputSchema.parse(input)];
    try {
      // The SDK repeats this call under one request id while the server is away; a repetition from out here would have another.
      await this.#client.workflow.start(workflowNames.session, {
        workflowId: sessionId,
        taskQueue: options.taskQueue ?? DEFAULT_TASK_QUEUE,
        args,
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        staticSummary: toOneLine(prompt, MAX_SUMMARY_CHARACTERS) || "session",
        staticDetails: toStaticDetails(input, prompt),
        memo: { prompt: toOneLine(prompt, MAX_MEMO_CHARACTERS), workspace: input.workspace },
        ...(input.hasSearchAttributes
          ? { typedSearchAttributes: [{ key: AGENT_SEARCH_ATTRIBUTE, value: "main" }] }
          : {}),
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw new SessionError(sessionErrorCodes.alreadyExists, `${sessionId} exists already`, error);
    }
    return this.get(sessionId);
  }

  /** Work with a session by its id. Asks the server nothing: an unknown id shows at the first call. */
  get(sessionId: string): SessionHandle {
    return new SessionHandle(this.#client, sessionId);
  }

  /**
   * Describe one session by the server's records alone.
   *
   * @throws SessionError Session.NotFound, also for the id of something that is no session.
   */
  async describe(sessionId: string): Promise<SessionSummary> {
    // The server calls an empty or endless id a wrong argument, which it is; to a person it is a session that is not there.
    const isPossible = sessionId !== "" && sessionId.length <= MAX_ID_CHARACTERS;
    const info = isPossible ? await this.#describeWorkflow(sessionId) : undefined;
    if (info === undefined || info.type !== workflowNames.session) {
      throw toMissingError(this.#client, sessionId);
    }
    return toSummary(info, new Map());
  }

  async #describeWorkflow(sessionId: string): Promise<WorkflowExecutionDescription | undefined> {
    return await callServer(this.#client, { patienceMs: QUERY_PATIENCE_MS }, async () => {
      try {
        return await this.#client.workflow.getHandle(sessionId).describe();
      } catch (error) {
        if (error instanceof Error && error.name === "WorkflowNotFoundError") return undefined;
        throw error;
      }
    });
  }

  /** List sessions, the latest first. A list may lag behind by a moment: it is the server's index. */
  async list(filter: ListFilter = {}): Promise<SessionSummary[]> {
    const limit = filter.limit ?? DEFAULT_LIST_LIMIT;
    const openness =
      filter.isOpen === undefined ? "" : ` AND ExecutionStatus ${filter.isOpen ? "=" : "!="} 'Running'`;
    // Earlier runs of a session that continued as new are not sessions of their own.
    const query = `WorkflowType = '${workflowNames.session}' AND ExecutionStatus != 'ContinuedAsNew'${openness}`;
    const found = await this.#listWorkflows(query, limit);
    const sessions = found.toSorted((left, right) => right.startTime.getTime() - left.startTime.getTime());
    const isAnyOpen = sessions.some((session) => session.status.name === "RUNNING");
    const running = isAnyOpen ? await this.#countRunningDelegates() : new Map<string, number>();
    return sessions.map((session) => toSummary(session, running));
  }

  async #countRunningDelegates(): Promise<Map<string, number>> {
    const query = `WorkflowType = '${workflowNames.delegate}' AND ExecutionStatus = 'Running'`;
    const counts = new Map<string, number>();
    for (const { parentExecution } of await this.#listWorkflows(query, MAX_COUNTED_DELEGATES)) {
      const parent = parentExecution?.workflowId;
      if (parent) counts.set(parent, (counts.get(parent) ?? 0) + 1);
    }
    return counts;
  }

  async #listWorkflows(query: string, limit: number): Promise<WorkflowExecutionInfo[]> {
    return await callServer(this.#client, { patienceMs: QUERY_PATIENCE_MS }, async () => {
      const found: WorkflowExecutionInfo[] = [];
      if (limit <= 0) return found;
      for await (const info of this.#client.workflow.list({ query, pageSize: Math.min(limit, 100) })) {
        found.push(info);
        if (found.length >= limit) break;
      }
      return found;
    });
  }
}

function toStaticDetails(input: SessionInput, prompt: string): string {
  const shown = bound(prompt, MAX_DETAILS_CHARACTERS, () => "\n[cut]").replaceAll("~~~~", "~ ~ ~ ~");
  return `Workspace \`${toOneLine(input.workspace, 300)}\`\n\n~~~~\n${shown}\n~~~~`;
}

function toSummary(
  info: Omit<WorkflowExecutionInfo, "raw">,
  running: ReadonlyMap<string, number>,
): SessionSummary {
  return {
    sessionId: info.workflowId,
    status: toStatus(info.status.name),
    prompt: toMemoText(info.memo?.prompt),
    workspace: toMemoText(info.memo?.workspace),
    taskQueue: info.taskQueue,
    startedAtMs: info.startTime.getTime(),
    closedAtMs: info.closeTime?.getTime(),
    runningDelegates: running.get(info.workflowId) ?? 0,
  };
}

/** A memo is written by whoever starts the workflow: nothing is taken for granted. */
function toMemoText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toStatus(name: WorkflowExecutionInfo["status"]["name"]): SessionSummary["status"] {
  switch (name) {
    case "RUNNING":
      return "open";
    case "COMPLETED":
      return "closed";
    case "CANCELLED":
      return "cancelled";
    case "TERMINATED":
      return "terminated";
    case "FAILED":
      return "failed";
    case "TIMED_OUT":
      return "timed_out";
    default:
      return "unknown";
  }
}
