import type { Delegation } from "./delegation.ts";
import { RUNNING_CAP } from "./limits.ts";
import type { SessionView } from "./messages.ts";
import type { PermissionQuestionRecord } from "./permission-questions.ts";
import type { SessionInput, SessionState } from "./session.ts";
import { cutAt } from "./text.ts";

const SHOWN_ANSWERED = 10;

/**
 * Make what a query shows of a session. Reports and answers are read one by one; what else may be long is shortened, so that a hundred records at their worst
 * stay far below what a query may answer.
 */
export function toSessionView(
  session: { id: string; input: SessionInput; state: SessionState; isClosing: boolean },
  nowMs: number,
): SessionView {
  const { input, state } = session;
  const answered = state.questions.filter((question) => question.state !== "open").toReversed();
  return {
    sessionId: session.id,
    input,
    permissionMode: state.permissionMode,
    turns: state.turns.map((turn) => ({
      ...turn,
      prompt: cutAt(turn.prompt, 300),
      answer: "",
      ...toShortError(turn),
    })),
    delegations: state.delegations.map(toListed),
    questions: [
      ...state.questions.filter((question) => question.state === "open"),
      ...answered.slice(0, SHOWN_ANSWERED).map(toAnswered),
    ],
    runningCap: RUNNING_CAP,
    isClosing: session.isClosing,
    nowMs,
  };
}

function toListed(delegation: Delegation): Delegation {
  return { ...delegation, report: "", denials: delegation.denials.slice(0, 1), ...toShortError(delegation) };
}

function toShortError<Record extends Pick<Delegation, "error">>({ error }: Record) {
  return error === undefined ? {} : { error: { ...error, message: cutAt(error.message, 300) } };
}

function toAnswered(question: PermissionQuestionRecord): PermissionQuestionRecord {
  return { ...question, target: cutAt(question.target, 300), arguments: "" };
}
