import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { toCarriedState } from "../core/carried-state.ts";
import type { Delegation } from "../core/delegation.ts";
import { MAX_TASK_CHARACTERS, RUNNING_CAP } from "../core/limits.ts";
import {
  type PermissionAnswered,
  type PermissionStanding,
  queryNames,
  refusals,
  type SendCall,
  type SessionView,
  signalNames,
  type TaskCall,
  type TaskStarted,
  type TaskStopAnswer,
  type TaskStopCall,
  type TaskWaitAnswer,
  type TaskWaitCall,
  updateNames,
} from "../core/messages.ts";
import type { PermissionAnswer, PermissionRequest } from "../core/permission-questions.ts";
import type { PermissionMode } from "../core/permissions.ts";
import type { SessionInput, SessionState, Turn } from "../core/session.ts";
import { readCatalogue } from "./catalogue.ts";
import { delegateSettledSignal } from "./delegate.ts";
import { createDelegations, type Delegations, requestStopOfAll } from "./delegations.ts";
import {
  handleAnswer,
  handleMode,
  takeQuestion,
  toStanding,
  validateAnswer,
  validateMode,
} from "./permission-handler.ts";
import { refuse } from "./refuse.ts";
import {
  createSessionContext,
  findDelegation,
  findTurn,
  listRunning,
  type SessionContext,
  showSession,
} from "./session-context.ts";
import { handleTask, validateTask } from "./task-handler.ts";
import { handleTaskStop, parseTaskStop } from "./task-stop-handler.ts";
import { handleTaskWait, parseTaskWait } from "./task-wait-handler.ts";
import { abortTurn, carryOutTurn, openTurn } from "./turns.ts";

export const sendUpdate = defineUpdate<{ turn: number }, [SendCall]>(updateNames.send);
export const taskUpdate = defineUpdate<TaskStarted, [TaskCall]>(updateNames.task);
export const taskWaitUpdate = defineUpdate<TaskWaitAnswer, [TaskWaitCall]>(updateNames.taskWait);
export const taskStopUpdate = defineUpdate<TaskStopAnswer, [TaskStopCall]>(updateNames.taskStop);
export const abortTurnUpdate = defineUpdate<{ turn: number | undefined }, []>(updateNames.abortTurn);
export const closeUpdate = defineUpdate<void, []>(updateNames.close);
export const answerPermissionUpdate = defineUpdate<PermissionAnswered, [PermissionAnswer]>(
  updateNames.answerPermission,
);
export const setPermissionModeUpdate = defineUpdate<{ mode: PermissionMode }, [{ mode: PermissionMode }]>(
  updateNames.setPermissionMode,
);
export const permissionAskedSignal = defineSignal<[PermissionRequest]>(signalNames.permissionAsked);
export const permissionQuery = defineQuery<PermissionStanding, [string]>(queryNames.permission);
export const sessionQuery = defineQuery<SessionView>(queryNames.session);
export const reportQuery = defineQuery<Delegation | undefined, [string]>(queryNames.report);
export const turnQuery = defineQuery<Turn | undefined, [number]>(queryNames.turn);

/** What is left to read in Temporal Web of a session that was closed. */
export interface SessionResult {
  turns: number;
  delegations: { id: string; agent: string; description: string; status: string }[];
}

/**
 * Hold one conversation of a main agent in one workspace: its turns, and the registry of what it delegated.
 *
 * Lives until it is closed or cancelled. Between turns, with no delegate running, it continues as new as soon as the server suggests it.
 */
export async function sessionWorkflow(input: SessionInput, carried?: SessionState): Promise<SessionResult> {
  const session = createSessionContext(input, carried);
  const delegations = createDelegations(session);
  const inbox: string[] = [];
  installHandlers(session, delegations, inbox);
  showSession(session);
  void closeOnCancel(session);
  // A cancelled session still ends its turn and its delegates in order.
  return await CancellationScope.nonCancellable(() => converse(session, delegations, inbox));
}

async function converse(
  session: SessionContext,
  delegations: Delegations,
  inbox: string[],
): Promise<SessionResult> {
  if (session.catalogueReadAtMs === undefined) await readCatalogue(session);
  for (;;) {
    await condition(() => inbox.length > 0 || session.isClosing || mayContinueAsNew(session));
    const prompt = inbox.shift();
    if (prompt !== undefined) await carryOutTurn(session, delegations, prompt);
    else if (session.isClosing) return await close(session, delegations);
    else await continueAsNew<typeof sessionWorkflow>(session.input, toCarriedState(session.state));
  }
}

function mayContinueAsNew(session: SessionContext): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  const isDue =
    continueAsNewSuggested ||
    historyLength >= (session.input.continueAsNewAfterEvents ?? Number.POSITIVE_INFINITY);
  return (
    isDue && session.activeTurn === undefined && listRunning(session).length === 0 && allHandlersFinished()
  );
}

async function close(session: SessionContext, delegations: Delegations): Promise<SessionResult> {
  requestStopOfAll(session, delegations, "aborted");
  // Bounded: a child whose worker is gone for good is cancelled by its parent's end.
  await condition(() => listRunning(session).length === 0, 15_000, {
    summary: "closing waits for the delegates",
  });
  await condition(allHandlersFinished, 5000);
  const { turns, delegations: records } = session.state;
  return {
    turns: turns.length,
    delegations: records.map(({ id, agent, description, status }) => ({ id, agent, description, status })),
  };
}

async function closeOnCancel(session: SessionContext): Promise<void> {
  try {
    await CancellationScope.current().cancelRequested;
  } catch {
    session.isClosing = true;
    abortTurn(session);
  }
}

function installHandlers(session: SessionContext, delegations: Delegations, inbox: string[]): void {
  setHandler(
    sendUpdate,
    ({ prompt }) => {
      const turn = openTurn(session, prompt);
      inbox.push(prompt);
      return { turn };
    },
    { validator: (call) => validateSend(session, call) },
  );
  setHandler(taskUpdate, (call) => handleTask(session, delegations, call), {
    validator: (call) => validateTask(session, call),
  });
  setHandler(taskWaitUpdate, (call) => handleTaskWait(session, call), {
    validator: (call) => void parseTaskWait(call.input),
  });
  setHandler(taskStopUpdate, (call) => handleTaskStop(session, delegations, call), {
    validator: (call) => void parseTaskStop(call.input),
  });
  setHandler(abortTurnUpdate, async () => {
    const number = session.activeTurn?.number;
    if (number === undefined) return { turn: undefined };
    abortTurn(session);
    await condition(() => session.activeTurn?.number !== number, 20_000, {
      summary: "abort waits for the turn's end",
    });
    return { turn: number };
  });
  setHandler(closeUpdate, () => {
    session.isClosing = true;
    abortTurn(session);
  });
  setHandler(answerPermissionUpdate, (answer) => handleAnswer(session, answer), {
    validator: (answer) => validateAnswer(session, answer),
  });
  setHandler(setPermissionModeUpdate, ({ mode }) => handleMode(session, mode), {
    validator: ({ mode }) => validateMode(mode),
  });
  setHandler(permissionAskedSignal, (request) => takeQuestion(session, request));
  setHandler(permissionQuery, (key) => toStanding(session, key));
  setHandler(delegateSettledSignal, (settlement) => delegations.settle(settlement));
  setHandler(sessionQuery, () => toView(session));
  setHandler(reportQuery, (id) => findDelegation(session, id));
  setHandler(turnQuery, (number) => findTurn(session, number));
}

function validateSend(session: SessionContext, { prompt }: SendCall): void {
  if (session.isClosing) refuse(refusals.closing, "the session is closing: it takes no further message");
  if (session.activeTurn !== undefined) {
    refuse(
      refusals.turnRunning,
      `turn ${session.activeTurn.number} is still running: wait for its end or abort it first`,
    );
  }
  if (typeof prompt !== "string" || prompt.trim() === "")
    refuse(refusals.badInput, "the message must not be empty");
  if (prompt.length > MAX_TASK_CHARACTERS) {
    refuse(
      refusals.badInput,
      `the message must not be longer than ${MAX_TASK_CHARACTERS} characters: put long material into a file and name it`,
    );
  }
}

function toView(session: SessionContext): SessionView {
  const { input, state } = session;
  return {
    sessionId: session.id,
    input,
    permissionMode: state.permissionMode,
    turns: state.turns.map((turn) => ({ ...turn, answer: "" })),
    delegations: state.delegations.map((delegation) => ({ ...delegation, report: "" })),
    questions: [
      ...state.questions.filter((question) => question.state === "open"),
      ...state.questions.filter((question) => question.state !== "open").toReversed(),
    ],
    runningCap: RUNNING_CAP,
    isClosing: session.isClosing,
    nowMs: Date.now(),
  };
}
