import { type Client, type WorkflowExecutionDescription, WorkflowUpdateStage } from "@temporalio/client";
import type { LiveState } from "../core/activity-text.ts";
import { type CallBounds, callServer } from "./call-server.ts";
import { describeSession, explainError, toMissingError } from "./explain-error.ts";
import { toLiveState } from "./live-state.ts";
import { queryIfOpen } from "./open-queries.ts";
import { QUERY_PATIENCE_MS } from "./session-deadlines.ts";
import { SessionError, sessionErrorCodes } from "./session-error.ts";
import { toSessionGates } from "./session-gates.ts";
import { type Fact, toFacts } from "./story/facts.ts";
import { isNotFound } from "./workflow-histories.ts";

const LOOK_PATIENCE_MS = 10_000;
/** Delegates that are looked at together; more would only queue up in the server. */
export const LOOKS_AT_ONCE = 5;

/** The calls of one session's workflow, with patience and with the SDK's errors turned into ours. */
export class SessionCalls {
  readonly #client: Client;
  readonly #sessionId: string;

  constructor(client: Client, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  async update<Answer>(name: string, input: unknown, updateId: string, bounds: CallBounds): Promise<Answer> {
    const handle = this.#client.workflow.getHandle(this.#sessionId);
    const { handover } = toSessionGates(this.#client, this.#sessionId);
    const options = { updateId, args: [input] as [unknown], waitForStage: WorkflowUpdateStage.ACCEPTED };
    return await this.#call({ ...bounds, isForWorker: true }, async () => {
      const handOver = () => handle.startUpdate<Answer, [unknown]>(name, options);
      const accepted = await handover.pass(handOver, bounds.signal);
      return await accepted.result();
    });
  }

  async query<Answer>(name: string, args: unknown[], signal: AbortSignal | undefined): Promise<Answer> {
    const handle = this.#client.workflow.getHandle(this.#sessionId);
    const bounds = { patienceMs: QUERY_PATIENCE_MS, signal, isForWorker: true };
    return await this.#call(bounds, () => handle.query<Answer, unknown[]>(name, ...args));
  }

  /** As {@link query}; undefined where the session has ended, by the server's own word in the same call. */
  async queryIfOpen<Answer>(
    name: string,
    args: unknown[],
    signal: AbortSignal | undefined,
  ): Promise<{ answer: Answer } | undefined> {
    const bounds = { patienceMs: QUERY_PATIENCE_MS, signal, isForWorker: true };
    return await this.#call(bounds, () => queryIfOpen<Answer>(this.#client, this.#sessionId, name, args));
  }

  async signal(name: string, input: unknown): Promise<void> {
    const handle = this.#client.workflow.getHandle(this.#sessionId);
    await this.#call({ patienceMs: QUERY_PATIENCE_MS }, () => handle.signal(name, input));
  }

  /** Whether the session still runs, by the server's own record. */
  async isOpen(signal: AbortSignal | undefined): Promise<boolean> {
    const bounds = { patienceMs: QUERY_PATIENCE_MS, signal };
    const { status } = await callServer(this.#client, bounds, () =>
      describeSession(this.#client, this.#sessionId),
    );
    return status.name === "RUNNING";
  }

  /** What the history of a workflow's latest run tells. @throws SessionError Session.NotFound, also for the id of something else. */
  async readFacts(workflowId: string, signal?: AbortSignal): Promise<Fact[]> {
    const handle = this.#client.workflow.getHandle(workflowId);
    const { events } = await this.#call({ patienceMs: QUERY_PATIENCE_MS, signal }, async () => {
      try {
        return await handle.fetchHistory();
      } catch (error) {
        // Reading a history has no error of its own for a workflow that is not there.
        throw isNotFound(error) ? toMissingError(this.#client, this.#sessionId, error) : error;
      }
    });
    return await toFacts(events ?? [], this.#client.options.loadedDataConverter);
  }

  /** As {@link readFacts}; undefined where the server knows no such workflow. */
  async findFacts(workflowId: string): Promise<Fact[] | undefined> {
    return await this.readFacts(workflowId).catch((error) => {
      if (error instanceof SessionError && error.code === sessionErrorCodes.notFound) return undefined;
      throw error;
    });
  }

  /** How a workflow ended, by the server's own record. */
  async findEnd(workflowId: string): Promise<Extract<Fact, { kind: "ended" }> | "running" | "missing"> {
    const description = await this.#describe(workflowId);
    if (description === undefined) return "missing";
    if (description.status.name === "RUNNING") return "running";
    const facts = await this.readFacts(workflowId);
    return facts.findLast((fact) => fact.kind === "ended") ?? "missing";
  }

  /** When a session's first run began; `otherwise` where the server keeps it no longer. */
  async findStart(workflowId: string, firstRunId: string, otherwise: number): Promise<number> {
    const first = await this.#describe(workflowId, firstRunId).catch(() => undefined);
    return first?.startTime.getTime() ?? otherwise;
  }

  async #describe(workflowId: string, runId?: string): Promise<WorkflowExecutionDescription | undefined> {
    return await callServer(this.#client, { patienceMs: LOOK_PATIENCE_MS }, async () => {
      try {
        return await this.#client.workflow.getHandle(workflowId, runId).describe();
      } catch (error) {
        if (error instanceof Error && error.name === "WorkflowNotFoundError") return undefined;
        throw error;
      }
    });
  }

  /** What the agent run in a workflow is doing, by the server's own record of it. Never rejects. */
  async lookAt(workflowId: string): Promise<LiveState> {
    try {
      const description = await callServer(this.#client, { patienceMs: LOOK_PATIENCE_MS }, () =>
        this.#client.workflow.getHandle(workflowId).describe(),
      );
      return await toLiveState(description, this.#client.options.loadedDataConverter, Date.now());
    } catch (error) {
      // The session records a delegation before the server knows its workflow.
      if (error instanceof Error && error.name === "WorkflowNotFoundError") return { kind: "queued" };
      const isAwayNow = error instanceof SessionError && error.code === sessionErrorCodes.unreachable;
      return { kind: "unknown", reason: isAwayNow ? "server unreachable" : toText(error) };
    }
  }

  async #call<Answer>(bounds: CallBounds, call: () => Promise<Answer>): Promise<Answer> {
    return await callServer(this.#client, bounds, async () => {
      try {
        return await call();
      } catch (error) {
        throw await explainError(this.#client, this.#sessionId, error);
      }
    });
  }
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
