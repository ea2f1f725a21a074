import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, WorkflowUpdateStage } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import type { LiveState } from "../core/activity-text.ts";
import type { Delegation } from "../core/delegation.ts";
import {
  type PermissionAnswered,
  type PermissionStanding,
  queryNames,
  refusals,
  type SessionView,
  signalNames,
  type TaskCall,
  type TaskStarted,
  type TaskStopAnswer,
  type TaskStopCall,
  type TaskWaitAnswer,
  type TaskWaitCall,
  toDelegateWorkflowId,
  updateNames,
} from "../core/messages.ts";
import type { PermissionAnswer, PermissionRequest } from "../core/permission-questions.ts";
import type { PermissionMode } from "../core/permissions.ts";
import type { Turn } from "../core/session.ts";
import { type EndSignal, type SessionPort, SessionRefusal } from "../core/session-port.ts";
import { toAbortSignal } from "./abort-signal.ts";
import { type CallBounds, callServer } from "./call-server.ts";
import { describeSession, explainError, toClosedError } from "./explain-error.ts";
import { toLiveState } from "./live-state.ts";
import { mapBounded } from "./map-bounded.ts";
import {
  ABORT_PATIENCE_MS,
  QUERY_PATIENCE_MS,
  TASK_STOP_PATIENCE_MS,
  toTaskWaitPatienceMs,
  WORKER_PATIENCE_MS,
} from "./session-deadlines.ts";
import { SessionError, sessionErrorCodes } from "./session-error.ts";
import { toSessionGates } from "./session-gates.ts";

/** Delegates that are looked at together; more would only queue up in the server. */
const LOOKS_AT_ONCE = 5;
const LOOK_PATIENCE_MS = 10_000;
const SEND_ATTEMPTS = 3;
const FIRST_POLL_MS = 250;
const LAST_POLL_MS = 2000;
/** Polls of a turn between two looks at whether its session still runs. */
const POLLS_PER_DESCRIBE = 5;

/**
 * One session, worked with from outside: what its main agent can do, and what only a host may do.
 *
 * Holds no state: any number of handles of one session work side by side. Every call survives a restart of the server or of a worker; each
 * has a patience that is longer than what the session itself may take.
 *
 * Rejections: {@link SessionRefusal} for a caller's mistake, {@link SessionError} for a session that can't be worked with, the signal's
 * reason for a call that was given up; giving up changes nothing in the session.
 */
export class SessionHandle implements SessionPort {
  readonly sessionId: string;
  readonly #client: Client;

  constructor(client: Client, sessionId: string) {
    this.#client = client;
    this.sessionId = sessionId;
  }

  /**
   * Give the main agent a message; it begins a turn.
   *
   * @param key The same key is the same message: repeating it starts no second turn.
   * @throws SessionRefusal Send.TurnRunning, Session.Closing or Input.Invalid.
   */
  async send(prompt: string, key: string = randomUUID()): Promise<{ turn: number }> {
    const bounds = { patienceMs: WORKER_PATIENCE_MS };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#update(updateNames.send, { prompt }, key, bounds);
      } catch (error) {
        if (attempt === SEND_ATTEMPTS || !(await this.#isRefusedTooEarly(error))) throw error;
      }
    }
  }

  /**
   * A worker that has just taken a session over can judge a message before it has repeated the last turn's end. Its second judgement is
   * made on what it then knows.
   */
  async #isRefusedTooEarly(error: unknown): Promise<boolean> {
    if (!(error instanceof SessionRefusal && error.code === refusals.turnRunning)) return false;
    const { turns } = await this.view();
    return turns.at(-1)?.status !== "running";
  }

  async task(call: TaskCall, callKey: string): Promise<TaskStarted> {
    // The server forgets update ids as a session continues as new; the session's own records do not.
    const keyed = { ...call, callKey };
    return await this.#update(updateNames.task, keyed, callKey, { patienceMs: WORKER_PATIENCE_MS });
  }

  async taskWait(call: TaskWaitCall, callKey: string, signal?: EndSignal): Promise<TaskWaitAnswer> {
    const patienceMs = toTaskWaitPatienceMs(call.input);
    const { signal: ownSignal, release } = toAbortSignal(signal);
    try {
      const wait = () =>
        this.#update<TaskWaitAnswer>(updateNames.taskWait, call, callKey, { patienceMs, signal: ownSignal });
      return await toSessionGates(this.#client, this.sessionId).waits.pass(wait, ownSignal);
    } finally {
      release();
    }
  }

  async taskStop(call: TaskStopCall, callKey: string): Promise<TaskStopAnswer> {
    return await this.#update(updateNames.taskStop, call, callKey, { patienceMs: TASK_STOP_PATIENCE_MS });
  }

  /** End the running turn and its delegates, and wait until they have ended. No-op between turns: `turn` is undefined then. */
  async abortTurn(signal?: AbortSignal): Promise<{ turn: number | undefined }> {
    const bounds = { patienceMs: ABORT_PATIENCE_MS, signal };
    const answer = await this.#update<{ turn?: number }>(
      updateNames.abortTurn,
      undefined,
      randomUUID(),
      bounds,
    );
    return { turn: answer.turn };
  }

  /** Close the session: its turn and its delegates are aborted, and it takes no further message. No-op if it is closed. */
  async close(signal?: AbortSignal): Promise<void> {
    try {
      const bounds = { patienceMs: WORKER_PATIENCE_MS, signal };
      await this.#update(updateNames.close, undefined, randomUUID(), bounds);
    } catch (error) {
      if (!(error instanceof SessionError && error.code === sessionErrorCodes.closed)) throw error;
    }
  }

  /** See the session as a whole, without reports and answers. Works on a closed session too, as long as the server keeps it. */
  async view(signal?: AbortSignal): Promise<SessionView> {
    const view = await this.#query<SessionView>(queryNames.session, [], signal);
    // A workflow's clock stands still between its steps, however long its delegates have been at work since.
    return { ...view, nowMs: Math.max(view.nowMs, Date.now()) };
  }

  async permission(key: string): Promise<PermissionStanding> {
    return await this.#query<PermissionStanding>(queryNames.permission, [key], undefined);
  }

  async askPermission(request: PermissionRequest): Promise<void> {
    await callServer(this.#client, { patienceMs: QUERY_PATIENCE_MS }, async () => {
      try {
        await this.#client.workflow.getHandle(this.sessionId).signal(signalNames.permissionAsked, request);
      } catch (error) {
        throw await explainError(this.#client, this.sessionId, error);
      }
    });
  }

  /**
   * Answer an open question of an agent. A late or second answer changes nothing and tells how the question stands.
   *
   * @throws SessionRefusal Permission.UnknownQuestion or Input.Invalid.
   */
  async answerPermission(answer: PermissionAnswer): Promise<PermissionAnswered> {
    return await this.#update(updateNames.answerPermission, answer, randomUUID(), {
      patienceMs: WORKER_PATIENCE_MS,
    });
  }

  /** Change the permission mode for every later call, of running delegates too; open questions are judged again by it. */
  async setPermissionMode(mode: PermissionMode): Promise<{ mode: PermissionMode }> {
    return await this.#update(updateNames.setPermissionMode, { mode }, randomUUID(), {
      patienceMs: WORKER_PATIENCE_MS,
    });
  }

  /** Read a turn with its answer; undefined if there is none of that number or it is no longer kept. */
  async turn(number: number, signal?: AbortSignal): Promise<Turn | undefined> {
    return (await this.#query<Turn | null>(queryNames.turn, [number], signal)) ?? undefined;
  }

  /** Read a delegation with its report; undefined if the id is unknown or no longer kept. */
  async report(delegationId: string, signal?: AbortSignal): Promise<Delegation | undefined> {
    return (await this.#query<Delegation | null>(queryNames.report, [delegationId], signal)) ?? undefined;
  }

  /**
   * Wait until a turn has ended, through restarts of workers and server, until the signal is aborted.
   *
   * @throws SessionError Session.UnknownTurn; Session.Closed if the session ended, terminated from outside say, and the turn never did.
   */
  async waitForTurn(number: number, signal?: AbortSignal): Promise<Turn> {
    let delayMs = FIRST_POLL_MS;
    for (let poll = 1; ; poll += 1) {
      const turn = await this.#lookAtTurn(number, signal);
      if (turn !== undefined && turn.status !== "running") return turn;
      if (poll % POLLS_PER_DESCRIBE === 0) await this.#checkIsOpen(signal);
      await sleep(delayMs, undefined, { signal });
      delayMs = Math.min(delayMs * 1.5, LAST_POLL_MS);
    }
  }

  async live(delegationIds: readonly string[]): Promise<Map<string, LiveState>> {
    const ids = [...new Set(delegationIds)];
    const states = await mapBounded(ids, LOOKS_AT_ONCE, (id) =>
      this.#lookAtWorkflow(toDelegateWorkflowId(this.sessionId, id)),
    );
    return new Map(
      ids.map((id, index) => [id, states[index] ?? { kind: "unknown", reason: "not looked at" }]),
    );
  }

  /** What the main agent is doing, by the server's own record. */
  async liveTurn(): Promise<LiveState> {
    return await this.#lookAtWorkflow(this.sessionId);
  }

  async #lookAtTurn(number: number, signal: AbortSignal | undefined): Promise<Turn | undefined> {
    try {
      const turn = await this.turn(number, signal);
      if (turn !== undefined) return turn;
    } catch (error) {
      if (isAway(error)) return undefined;
      throw error;
    }
    throw new SessionError(
      sessionErrorCodes.unknownTurn,
      `${this.sessionId} has no turn ${number}, or keeps it no longer`,
    );
  }

  async #lookAtWorkflow(workflowId: string): Promise<LiveState> {
    try {
      const description = await callServer(this.#client, { patienceMs: LOOK_PATIENCE_MS }, () =>
        this.#client.workflow.getHandle(workflowId).describe(),
      );
      return await toLiveState(description, this.#client.options.loadedDataConverter, Date.now());
    } catch (error) {
      // The session records a delegation before the server knows its workflow.
      if (error instanceof WorkflowNotFoundError) return { kind: "queued" };
      const isAwayNow = error instanceof SessionError && error.code === sessionErrorCodes.unreachable;
      return { kind: "unknown", reason: isAwayNow ? "server unreachable" : toText(error) };
    }
  }

  async #update<Answer>(name: string, input: unknown, updateId: string, bounds: CallBounds): Promise<Answer> {
    const handle = this.#client.workflow.getHandle(this.sessionId);
    const { handover } = toSessionGates(this.#client, this.sessionId);
    const options = { updateId, args: [input] as [unknown], waitForStage: WorkflowUpdateStage.ACCEPTED };
    return await callServer(this.#client, { ...bounds, isForWorker: true }, async () => {
      try {
        const handOver = () => handle.startUpdate<Answer, [unknown]>(name, options);
        const accepted = await handover.pass(handOver, bounds.signal);
        return await accepted.result();
      } catch (error) {
        throw await explainError(this.#client, this.sessionId, error);
      }
    });
  }

  async #query<Answer>(name: string, args: unknown[], signal: AbortSignal | undefined): Promise<Answer> {
    const handle = this.#client.workflow.getHandle(this.sessionId);
    const bounds = { patienceMs: QUERY_PATIENCE_MS, signal, isForWorker: true };
    return await callServer(this.#client, bounds, async () => {
      try {
        return await handle.query<Answer, unknown[]>(name, ...args);
      } catch (error) {
        throw await explainError(this.#client, this.sessionId, error);
      }
    });
  }

  async #checkIsOpen(signal: AbortSignal | undefined): Promise<void> {
    const status = await callServer(
      this.#client,
      { patienceMs: QUERY_PATIENCE_MS, signal },
      async () => (await describeSession(this.#client, this.sessionId)).status.name,
    ).catch((error) => {
      if (isAway(error)) return "RUNNING";
      throw error;
    });
    if (status !== "RUNNING") throw toClosedError(this.sessionId);
  }
}

function isAway(error: unknown): boolean {
  return (
    error instanceof SessionError &&
    (error.code === sessionErrorCodes.noWorker || error.code === sessionErrorCodes.unreachable)
  );
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
