import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import type { LiveState } from "../core/activity-text.ts";
import type { Delegation } from "../core/delegation.ts";
import {
  type PermissionAnswered,
  type PermissionStanding,
  queryNames,
  type SendCall,
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
import type { TraceContext } from "../core/trace-context.ts";
import { toAbortSignal } from "./abort-signal.ts";
import { readActiveTrace, toTraceField } from "./active-trace.ts";
import { judgeAgain } from "./judge-again.ts";
import { mapBounded } from "./map-bounded.ts";
import { LOOKS_AT_ONCE, SessionCalls } from "./session-calls.ts";
import {
  ABORT_PATIENCE_MS,
  TASK_STOP_PATIENCE_MS,
  toTaskWaitPatienceMs,
  WORKER_PATIENCE_MS,
} from "./session-deadlines.ts";
import { SessionError, sessionErrorCodes } from "./session-error.ts";
import { toSessionGates } from "./session-gates.ts";
import { type DelegateStory, readDelegateStory } from "./story/delegate-story.ts";
import {
  lookUp,
  readSessionStory,
  refreshStory,
  type SessionStory,
  toListedView,
} from "./story/session-story.ts";
import { waitForPlace } from "./wait-for-place.ts";

const FIRST_POLL_MS = 250;
const LAST_POLL_MS = 2000;

/**
 * One session, worked with from outside: what its main agent can do, and what only a host may do.
 *
 * Holds nothing but the records of a session that has ended: any number of handles of one session work side by side. Every call survives a restart of the server or of a worker; each
 * has a patience that is longer than what the session itself may take.
 *
 * Rejections: {@link SessionRefusal} for a caller's mistake, {@link SessionError} for a session that can't be worked with, the signal's
 * reason for a call that was given up; giving up changes nothing in the session.
 */
export class SessionHandle implements SessionPort {
  readonly sessionId: string;
  readonly #client: Client;
  readonly #calls: SessionCalls;
  /** The story of the session once it has ended. */
  #over: SessionStory | undefined;

  constructor(client: Client, sessionId: string) {
    this.#client = client;
    this.#calls = new SessionCalls(client, sessionId);
    this.sessionId = sessionId;
  }

  /**
   * Give the main agent a message; it begins a turn.
   *
   * @param key The same key is the same message: repeating it starts no second turn.
   * @param trace What the turn's spans belong under; the caller's active span unless one is named.
   * @throws SessionRefusal Send.TurnRunning, Session.Closing or Input.Invalid.
   */
  async send(
    prompt: string,
    key: string = randomUUID(),
    trace: TraceContext | undefined = undefined,
  ): Promise<{ turn: number }> {
    const bounds = { patienceMs: WORKER_PATIENCE_MS };
    const message: SendCall = { prompt, key, ...toTraceField(trace ?? readActiveTrace()) };
    const send = () => this.#calls.update<{ turn: number }>(updateNames.send, message, key, bounds);
    return await judgeAgain(send, () => this.view());
  }

  async task(call: TaskCall, callKey: string): Promise<TaskStarted> {
    // The server forgets update ids as a session continues as new; the session's own records do not.
    const trace = call.trace ?? readActiveTrace();
    const keyed: TaskCall = { ...call, callKey, ...toTraceField(trace) };
    const bounds = { patienceMs: WORKER_PATIENCE_MS };
    const task = () => this.#calls.update<TaskStarted>(updateNames.task, keyed, callKey, bounds);
    return await judgeAgain(task, () => this.view(), call.turn);
  }

  async taskWait(call: TaskWaitCall, callKey: string, signal?: EndSignal): Promise<TaskWaitAnswer> {
    const patienceMs = toTaskWaitPatienceMs(call.input);
    const { signal: ownSignal, release } = toAbortSignal(signal);
    try {
      const wait = () =>
        this.#calls.update<TaskWaitAnswer>(updateNames.taskWait, call, callKey, {
          patienceMs,
          signal: ownSignal,
        });
      const patiently = () => waitForPlace(wait, ownSignal);
      return await toSessionGates(this.#client, this.sessionId).waits.pass(patiently, ownSignal);
    } finally {
      release();
    }
  }

  async taskStop(call: TaskStopCall, callKey: string): Promise<TaskStopAnswer> {
    return await this.#calls.update(updateNames.taskStop, call, callKey, {
      patienceMs: TASK_STOP_PATIENCE_MS,
    });
  }

  /** End the running turn and its delegates, and wait until they have ended. No-op between turns: `turn` is undefined then. */
  async abortTurn(signal?: AbortSignal): Promise<{ turn: number | undefined }> {
    const bounds = { patienceMs: ABORT_PATIENCE_MS, signal };
    const answer = await this.#calls.update<{ turn?: number }>(
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
      await this.#calls.update(updateNames.close, undefined, randomUUID(), bounds);
    } catch (error) {
      if (!(error instanceof SessionError && error.code === sessionErrorCodes.closed)) throw error;
    }
  }

  /**
   * See the session as a whole, without reports and answers. Of a session that has ended, in whatever way, the server's own records tell: no worker is
   * needed, what still runs of its delegates is told by their own workflows, and nothing is shown as running that is not.
   */
  async view(signal?: AbortSignal): Promise<SessionView> {
    const view = await this.#ask<SessionView>(queryNames.session, [], signal, toListedView);
    // A workflow's clock stands still between its steps, however long its delegates have been at work since.
    return { ...view, nowMs: Math.max(view.nowMs, Date.now()) };
  }

  async permission(key: string): Promise<PermissionStanding> {
    return await this.#calls.query<PermissionStanding>(queryNames.permission, [key], undefined);
  }

  async askPermission(request: PermissionRequest): Promise<void> {
    await this.#calls.signal(signalNames.permissionAsked, request);
  }

  /**
   * Answer an open question of an agent. A late or second answer changes nothing and tells how the question stands.
   *
   * @throws SessionRefusal Permission.UnknownQuestion or Input.Invalid.
   */
  async answerPermission(answer: PermissionAnswer): Promise<PermissionAnswered> {
    return await this.#calls.update(updateNames.answerPermission, answer, randomUUID(), {
      patienceMs: WORKER_PATIENCE_MS,
    });
  }

  /** Change the permission mode for every later call, of running delegates too; open questions are judged again by it. */
  async setPermissionMode(mode: PermissionMode): Promise<{ mode: PermissionMode }> {
    return await this.#calls.update(updateNames.setPermissionMode, { mode }, randomUUID(), {
      patienceMs: WORKER_PATIENCE_MS,
    });
  }

  /**
   * Read a turn with its answer; undefined if there is none of that number or it is no longer kept. A turn whose session was ended from outside has failed:
   * TERMINATED.
   */
  async turn(number: number, signal?: AbortSignal): Promise<Turn | undefined> {
    const ofStory = ({ view }: SessionStory) => view.turns.find((turn) => turn.number === number);
    return await this.#ask<Turn | undefined>(queryNames.turn, [number], signal, ofStory);
  }

  /** Read a delegation with its report; undefined if the id is unknown or no longer kept. */
  async report(delegationId: string, signal?: AbortSignal): Promise<Delegation | undefined> {
    const ofStory = ({ view }: SessionStory) => view.delegations.find(({ id }) => id === delegationId);
    const read = () => this.#ask<Delegation | undefined>(queryNames.report, [delegationId], signal, ofStory);
    const found = await read();
    // What a session that has ended left behind its story has brought back, if it could.
    if (found?.reportState !== "away" || this.#over !== undefined) return found;
    // The session left it behind or never had it: a wait for it alone brings it back.
    await this.taskWait({ input: { delegationIds: [delegationId] }, isObserver: true }, randomUUID(), signal);
    return await read();
  }

  /**
   * Read all that the server's own records tell of the session, how it ended and what is not kept elsewhere included. Needs no worker. Once it has ended its
   * own records are read no more: only its delegates that still run are looked at.
   *
   * @throws SessionError Session.NotFound.
   */
  async story(signal?: AbortSignal): Promise<SessionStory> {
    const story =
      this.#over === undefined
        ? await readSessionStory(this.#calls, this.sessionId, signal)
        : await refreshStory(this.#calls, this.#over);
    if (story.end !== undefined) this.#over = story;
    return story;
  }

  /** Read all that a delegate's own workflow tells, also when nothing is left of the session. Undefined if the server knows no such delegate. */
  async delegateStory(delegationId: string): Promise<DelegateStory | undefined> {
    return await readDelegateStory(this.#calls, this.sessionId, delegationId);
  }

  /** Tell by their own workflows how delegates ended, reports included, when nothing is left of the session itself. */
  async lookUp(delegations: readonly Delegation[]): Promise<Delegation[]> {
    const bare = delegations.map((each) =>
      each.report === "" ? { ...each, reportState: "away" as const } : each,
    );
    return await lookUp(this.#calls, this.sessionId, bare, true);
  }

  /** Whether it is open, by the server's own record. @throws SessionError Session.NotFound. */
  async isOpen(signal?: AbortSignal): Promise<boolean> {
    return await this.#calls.isOpen(signal);
  }

  /**
   * Wait until a turn has ended, through restarts of workers and server, until the signal is aborted. It ends with its session, in whatever way that ends.
   *
   * @throws SessionError Session.UnknownTurn, Session.NotFound if the session was deleted.
   */
  async waitForTurn(number: number, signal?: AbortSignal): Promise<Turn> {
    let delayMs = FIRST_POLL_MS;
    for (;;) {
      const turn = await this.#lookAtTurn(number, signal);
      if (turn !== undefined && turn.status !== "running") return turn;
      await sleep(delayMs, undefined, { signal });
      delayMs = Math.min(delayMs * 1.5, LAST_POLL_MS);
    }
  }

  async live(delegationIds: readonly string[]): Promise<Map<string, LiveState>> {
    const ids = [...new Set(delegationIds)];
    const states = await mapBounded(ids, LOOKS_AT_ONCE, (id) =>
      this.#calls.lookAt(toDelegateWorkflowId(this.sessionId, id)),
    );
    return new Map(
      ids.map((id, index) => [id, states[index] ?? { kind: "unknown", reason: "not looked at" }]),
    );
  }

  /** What the main agent is doing, by the server's own record. */
  async liveTurn(): Promise<LiveState> {
    return await this.#calls.lookAt(this.sessionId);
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

  /** Ask the session itself as long as it is open, and its story once it has ended. */
  async #ask<Answer>(
    name: string,
    args: unknown[],
    signal: AbortSignal | undefined,
    ofStory: (story: SessionStory) => Answer,
  ): Promise<Answer> {
    const asked =
      this.#over === undefined ? await this.#calls.queryIfOpen<Answer>(name, args, signal) : undefined;
    // As JSON, what is undefined comes as null.
    return asked === undefined ? ofStory(await this.story(signal)) : ((asked.answer ?? undefined) as Answer);
  }
}

function isAway(error: unknown): boolean {
  return (
    error instanceof SessionError &&
    (error.code === sessionErrorCodes.noWorker || error.code === sessionErrorCodes.unreachable)
  );
}
