import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { toCarriedState } from "../core/carried-state.ts";
import { type Delegation, settlementSchema } from "../core/delegation.ts";
import { MAX_TASK_CHARACTERS } from "../core/limits.ts";
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
import {
  type PermissionAnswer,
  type PermissionRequest,
  permissionRequestSchema,
} from "../core/permission-questions.ts";
import type { PermissionMode } from "../core/permissions.ts";
import { toGist } from "../core/report-gist.ts";
import type { SessionInput, SessionState, Turn } from "../core/session.ts";
import { toSessionView } from "../core/session-view.ts";
import type { RunError } from "../core/status.ts";
import { describeProblems } from "../core/task-calls.ts";
import { toOneLine } from "../core/text.ts";
import { readTraceContext } from "../core/trace-context.ts";
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
import { checkUpdates, checkWaits, KEY_TOO_LONG, MAX_KEY_CHARACTERS, refuse } from "./refuse.ts";
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

/** Keys of messages that are remembered: the same key is the same message, also after the session continued as new. */
const KEPT_SENT = 20;

/** What is left to read in Temporal Web of a session that was closed. */
export interface SessionResult {
  turns: number;
  delegations: {
    id: string;
    agent: string;
    description: string;
    status: string;
    /** Why it did not complete. */
    error?: RunError;
    turns: number;
    toolCalls: number;
    /** The beginning of its report, or of its answer if it names one. */
    report: string;
  }[];
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
  const { delegations: records } = session.state;
  return {
    turns: session.state.lastTurn,
    delegations: records.map(({ id, agent, description, status, error, turns, toolCalls, report }) => ({
      id,
      agent,
      description,
      // Its worker never said so; it is cancelled as its parent ends.
      status: status === "running" ? "stop requested, not confirmed" : status,
      ...(error === undefined ? {} : { error: { ...error, message: toOneLine(error.message, 300) } }),
      turns,
      toolCalls,
      report: toOneLine(toGist(report), 300),
    })),
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
    ({ prompt, key, trace }) => {
      const known = findSent(session, key);
      if (known !== undefined) return { turn: known.turn };
      const turn = openTurn(session, prompt, readTraceContext(trace));
      if (key !== undefined) session.state.sent = [...session.state.sent, { key, turn }].slice(-KEPT_SENT);
      inbox.push(prompt);
      return { turn };
    },
    { validator: (call) => validateSend(session, call) },
  );
  setHandler(taskUpdate, (call) => countUpdate(session, handleTask(session, delegations, call)), {
    validator: (call) => validateTask(session, call),
  });
  setHandler(taskWaitUpdate, (call) => countUpdate(session, handleTaskWait(session, call)), {
    validator: (call) => {
      checkUpdates(session);
      checkWaits(session, call.isObserver ?? false);
      parseTaskWait(call.input);
    },
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
  setHandler(permissionAskedSignal, (request) => {
    const parsed = permissionRequestSchema.safeParse(request);
    if (parsed.success) takeQuestion(session, parsed.data);
    else log.warn("a question that is none was passed over", { problems: describeProblems(parsed.error) });
  });
  setHandler(permissionQuery, (key) => toStanding(session, key));
  setHandler(delegateSettledSignal, (settlement) => {
    const parsed = settlementSchema.safeParse(settlement);
    if (parsed.success) delegations.settle(settlement);
    else log.warn("a settlement that is none was passed over", { problems: describeProblems(parsed.error) });
  });
  setHandler(sessionQuery, () => toSessionView(session, Date.now()));
  setHandler(reportQuery, (id) => findDelegation(session, id));
  setHandler(turnQuery, (number) => findTurn(session, number));
}

/** The server counts updates by the run; what a turn may use of them is bounded before that. */
function countUpdate<Answer>(session: SessionContext, answer: Promise<Answer>): Promise<Answer> {
  session.updates += 1;
  return answer;
}

function findSent(session: SessionContext, key: string | undefined): { turn: number } | undefined {
  return key === undefined ? undefined : session.state.sent.find((sent) => sent.key === key);
}

function validateSend(session: SessionContext, { prompt, key }: SendCall): void {
  if (findSent(session, key) !== undefined) return;
  if (key !== undefined && key.length > MAX_KEY_CHARACTERS) refuse(refusals.badInput, KEY_TOO_LONG);
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
