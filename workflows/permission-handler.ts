import { type PermissionAnswered, type PermissionStanding, refusals } from "../core/messages.ts";
import {
  answerWithoutPerson,
  type PermissionAnswer,
  type PermissionQuestionRecord,
  type PermissionRequest,
  permissionAnswerSchema,
} from "../core/permission-questions.ts";
import { type PermissionMode, permissionModeSchema, permissionModes } from "../core/permissions.ts";
import { describeProblems } from "../core/task-calls.ts";
import { refuse } from "./refuse.ts";
import { findDelegation, type SessionContext, showSession } from "./session-context.ts";

/** Answered questions that a session keeps for people to look at; their answers stay in the history for ever. */
const KEPT_ANSWERED = 50;

/** Take a run's question. The same key again changes nothing: a resumed attempt finds its question, or the answer to it. */
export function takeQuestion(session: SessionContext, request: PermissionRequest): void {
  const { state } = session;
  if (state.questions.some((question) => question.key === request.key)) return;
  state.lastQuestion += 1;
  const question: PermissionQuestionRecord = {
    ...request,
    id: `q-${state.lastQuestion}`,
    state: "open",
    askedAtMs: Date.now(),
  };
  const answered = state.questions.filter(({ state: each }) => each !== "open");
  const dropped = new Set(
    answered.slice(0, Math.max(0, answered.length - KEPT_ANSWERED)).map(({ id }) => id),
  );
  state.questions = [...state.questions.filter(({ id }) => !dropped.has(id)), question];
  if (!isAskerThere(session, request.chain)) settleQuestion(question, { state: "withdrawn" });
  else judgeAgain(session);
  showSession(session);
}

/** How a run's call stands: the mode of this moment, what was allowed for the session, and the question about it. */
export function toStanding(session: SessionContext, key: string): PermissionStanding {
  const { permissionMode, allowances, questions } = session.state;
  return { mode: permissionMode, allowances, question: questions.find((question) => question.key === key) };
}

/** Check an answer before it is accepted. @throws ApplicationFailure Input.Invalid, Permission.UnknownQuestion. */
export function validateAnswer(session: SessionContext, answer: PermissionAnswer): void {
  const parsed = permissionAnswerSchema.safeParse(answer);
  if (!parsed.success) refuse(refusals.badInput, `answer: ${describeProblems(parsed.error)}`);
  if (session.state.questions.some(({ id }) => id === parsed.data.questionId)) return;
  const open = session.state.questions.filter(({ state }) => state === "open").map(({ id }) => id);
  const list = open.length === 0 ? "No question is open." : `Open questions: ${open.join(", ")}.`;
  refuse(
    refusals.unknownQuestion,
    `unknown question ${JSON.stringify(parsed.data.questionId.slice(0, 100))}. ${list}`,
  );
}

/** Answer a question. Only an open one is changed; a late or second answer is told how the question stands. */
export function handleAnswer(session: SessionContext, answer: PermissionAnswer): PermissionAnswered {
  const question = session.state.questions.find(({ id }) => id === answer.questionId);
  if (question === undefined)
    return refuse(refusals.unknownQuestion, `unknown question ${answer.questionId}`);
  if (question.state !== "open") return { question, hasTakenEffect: false };
  const isAllowed = answer.verdict === "allow";
  settleQuestion(question, {
    state: isAllowed ? "allowed" : "denied",
    by: answer.by,
    ...(answer.reason === undefined ? {} : { answer: answer.reason }),
  });
  if (isAllowed && answer.forSession) {
    session.state.allowances.push({ tool: question.tool, target: question.target, by: answer.by });
    judgeAgain(session);
  }
  showSession(session);
  return { question, hasTakenEffect: true };
}

/** @throws ApplicationFailure Input.Invalid for anything but one of the three modes. */
export function validateMode(mode: unknown): void {
  if (!permissionModeSchema.safeParse(mode).success)
    refuse(refusals.badInput, `the mode must be one of ${permissionModes.join(", ")}`);
}

/** Change the session's mode for every later call; open questions are judged again by it. */
export function handleMode(session: SessionContext, mode: PermissionMode): { mode: PermissionMode } {
  session.state.permissionMode = mode;
  judgeAgain(session);
  showSession(session);
  return { mode };
}

/** Close the questions of an agent that is not there any more. */
export function withdrawQuestions(session: SessionContext, chain: string): void {
  for (const question of session.state.questions) {
    if (question.chain === chain && question.state === "open")
      settleQuestion(question, { state: "withdrawn" });
  }
}

function judgeAgain(session: SessionContext): void {
  const { permissionMode, allowances, questions } = session.state;
  for (const question of questions) {
    if (question.state !== "open") continue;
    const answer = answerWithoutPerson(question, permissionMode, allowances);
    if (answer !== undefined) settleQuestion(question, answer);
  }
}

function settleQuestion(
  question: PermissionQuestionRecord,
  change: Pick<PermissionQuestionRecord, "state" | "by" | "answer">,
): void {
  Object.assign(question, change, { answeredAtMs: Date.now() });
}

function isAskerThere(session: SessionContext, chain: string): boolean {
  return chain === "main"
    ? session.activeTurn !== undefined
    : findDelegation(session, chain)?.status === "running";
}
