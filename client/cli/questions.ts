import { hostname, userInfo } from "node:os";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { toOneLine } from "../../core/text.ts";
import type { JsonEvent } from "./output.ts";
import { type ToCommand, toPlainCommand } from "./own-command.ts";

/** Whether a session's questions are waited for or denied at once. */
export const questionChoices = ["wait", "deny"] as const;
export type QuestionChoice = (typeof questionChoices)[number];

const MAX_TARGET_CHARACTERS = 300;
const MAX_NAME_CHARACTERS = 200;

/** Name the person who answers, for the record. */
export function toAnswerer(environment: NodeJS.ProcessEnv): string {
  const name = readUserName() || environment.USER || environment.LOGNAME || "unknown";
  return toOneLine(`${name}@${hostname()}`, MAX_NAME_CHARACTERS);
}

/** A user without an entry in the system's list has no name. */
function readUserName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Who asks: `task-1 fixer`, or `the main agent`. */
export function toAsker({ chain, agent }: PermissionQuestionRecord): string {
  return chain === "main" ? "the main agent" : `${chain} ${agent}`;
}

/** Say in one line what is asked. */
export function describeQuestion(question: PermissionQuestionRecord): string {
  return `${question.id}: ${toAsker(question)} asks to run ${question.tool} ${toOneLine(question.target, MAX_TARGET_CHARACTERS)}`;
}

/** Say in a few words how a question stands. */
export function describeStanding({ state, by, answer }: PermissionQuestionRecord): string {
  const who = by === undefined ? "" : ` by ${by}`;
  const why =
    answer === undefined || answer.trim() === "" ? "" : `: ${toOneLine(answer, MAX_TARGET_CHARACTERS)}`;
  return `${state}${who}${why}`;
}

/** How a question is answered from a command line. */
export function toAnswerCommands(sessionId: string, { id }: PermissionQuestionRecord, toCommand: ToCommand) {
  return {
    approve: toCommand(["approve", sessionId, id]),
    deny: toCommand(["deny", sessionId, id]),
  };
}

export function toQuestionEvent(
  sessionId: string,
  question: PermissionQuestionRecord,
  toCommand: ToCommand,
): JsonEvent {
  const { id, state, chain, agent, tool, target, arguments: input, reason, by, answer } = question;
  return {
    type: "question",
    session: sessionId,
    id,
    state,
    delegate: chain,
    agent,
    tool,
    target,
    arguments: input,
    reason,
    askedAt: new Date(question.askedAtMs).toISOString(),
    ...(by === undefined ? {} : { by }),
    ...(answer === undefined ? {} : { answer }),
    ...(state === "open" ? toAnswerCommands(sessionId, question, toCommand) : {}),
  };
}

/** A question as a whole, for the person who answers it. */
export function toQuestionText(
  sessionId: string,
  question: PermissionQuestionRecord,
  toCommand: ToCommand,
): string {
  const { approve, deny } = toAnswerCommands(sessionId, question, toCommand);
  return [
    `${question.id} · ${question.state === "open" ? "open" : describeStanding(question)} · ${toAsker(question)}, asked at ${new Date(question.askedAtMs).toISOString()}`,
    `${question.tool} ${question.target}`,
    `arguments: ${question.arguments}`,
    `why it is asked: ${question.reason}`,
    ...(question.state === "open" ? [`${approve} [--for-session]`, `${deny} [--reason TEXT]`] : []),
  ].join("\n");
}

/** Tells of questions in lines and events: once as they are asked, and how they were settled. */
export function createQuestionTeller(
  sessionId: string,
  isAnswerable: boolean,
  tell: (line: string, event: JsonEvent) => void,
  toCommand: ToCommand = toPlainCommand,
): (questions: readonly PermissionQuestionRecord[]) => void {
  const open = new Set<string>();
  return (questions) => {
    for (const question of questions) {
      const { id, state } = question;
      if (state === "open" && !open.has(id)) {
        open.add(id);
        const { approve } = toAnswerCommands(sessionId, question, toCommand);
        const how = isAnswerable ? ` · ${approve} (or deny)` : "";
        tell(`${describeQuestion(question)}${how}`, toQuestionEvent(sessionId, question, toCommand));
      } else if (state !== "open" && open.delete(id)) {
        tell(`${id}: ${describeStanding(question)}`, toQuestionEvent(sessionId, question, toCommand));
      }
    }
  };
}
