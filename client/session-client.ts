import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
} from "@temporalio/client";
import { WorkflowIdReusePolicy } from "@temporalio/common";
import { toMarkdownLine, toMarkdownQuote, toSummaryLine } from "../core/markdown.ts";
import { DEFAULT_TASK_QUEUE, type SessionArguments, workflowNames } from "../core/messages.ts";
import { AGENT_SEARCH_ATTRIBUTE } from "../core/search-attributes.ts";
import { type SessionInput, sessionInputSchema } from "../core/session.ts";
import { toOneLine } from "../core/text.ts";
import { callServer } from "./call-server.ts";
import { toMissingError } from "./explain-error.ts";
import { QUERY_PATIENCE_MS } from "./session-deadlines.ts";
import { SessionError, sessionErrorCodes } from "./session-error.ts";
import { SessionHandle } from "./session-handle.ts";
import { createSessionId } from "./session-id.ts";
import { type FoundSessions, findSessions, type ListFilter } from "./session-list.ts";
import { type SessionSummary, toSummary } from "./session-summary.ts";

export { SessionError, type SessionErrorCode, sessionErrorCodes } from "./session-error.ts";
export { SessionHandle } from "./session-handle.ts";
export { createSessionId } from "./session-id.ts";
export type { FoundSessions, ListFilter } from "./session-list.ts";
export type { SessionSummary } from "./session-summary.ts";

/** Characters of a title in Temporal Web; the server's bound is 400 bytes. */
const MAX_SUMMARY_CHARACTERS = 200;
/** Characters of the first prompt in a session's memo, which is sent with every list. */
const MAX_MEMO_CHARACTERS = 500;
const MAX_DETAILS_CHARACTERS = 4000;
/** The server's bound for a workflow id. */
const MAX_ID_CHARACTERS = 1000;

export interface StartOptions {
  /** Workflow id; a new one is made by default. Never used twice, not even after the session was closed. */
  sessionId?: string;
  /** The first message, to name the session by in Temporal Web and in lists. It is not sent: `send` does that. */
  prompt?: string;
  /** Where the session's workers listen. Default `subagents`. */
  taskQueue?: string;
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
        staticSummary: toSummaryLine(prompt, MAX_SUMMARY_CHARACTERS) || "session",
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
    return toSummary(info);
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

  /** List sessions, the latest first. A list may lag behind by a moment: it is the server's index. @throws SessionRefusal Input.Invalid. */
  async list(filter: ListFilter = {}): Promise<SessionSummary[]> {
    return (await this.find(filter)).sessions;
  }

  /** As `list`, and says how many more there are. */
  async find(filter: ListFilter = {}): Promise<FoundSessions> {
    return await findSessions(this.#client, filter);
  }
}

function toStaticDetails(input: SessionInput, prompt: string): string {
  const asked = prompt === "" ? "" : `**Asked**\n\n${toMarkdownQuote(prompt, MAX_DETAILS_CHARACTERS)}\n\n`;
  return `${asked}Workspace ${toMarkdownLine(input.workspace, 300)}`;
}
