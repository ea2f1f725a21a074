import { refusals } from "../../core/messages.ts";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { SessionRefusal } from "../../core/session-port.ts";
import type { SessionHandle } from "../session-handle.ts";
import type { Host } from "./host.ts";
import { findKeyboard, type Keyboard } from "./keyboard.ts";
import type { Output } from "./output.ts";
import type { Progress } from "./progress.ts";
import { createPlainProgress } from "./progress-plain.ts";
import { createTerminalProgress, type PromptMaker } from "./progress-terminal.ts";
import { createQuestionPrompt } from "./question-prompt.ts";
import { createQuestionTeller, type QuestionChoice, toAnswerer } from "./questions.ts";

/** Whose turn is shown, and what becomes of the questions of its agents. */
export interface Shown {
  session: SessionHandle;
  questions: QuestionChoice;
  host: Host;
}

/** Without a word about it, questions are waited for where somebody sits at a terminal and can be asked. */
export function toUsualQuestions(output: Output): QuestionChoice {
  return isTerminal(output) && findKeyboard(process.stdin) !== undefined ? "wait" : "deny";
}

/** Show progress in place on a terminal, as lines elsewhere, as events with `--json`; ask there, or tell how to answer, or deny. */
export function createProgress(shown: Shown): Progress {
  const { questions, host } = shown;
  const isAnswerable = questions === "wait";
  const base = isTerminal(host.output)
    ? createForTerminal(shown, isAnswerable)
    : createPlainProgress(host.output, Date.now, isAnswerable);
  return isAnswerable ? base : denyingQuestions(base, shown);
}

function isTerminal(output: Output): boolean {
  return !output.isJson && output.stderr.isTTY === true;
}

function createForTerminal(shown: Shown, isAnswerable: boolean): Progress {
  const { output } = shown.host;
  const keyboard = isAnswerable ? findKeyboard(process.stdin) : undefined;
  const makePrompt = keyboard === undefined ? undefined : toPromptMaker(shown, keyboard);
  const progress = createTerminalProgress(output.stderr, Date.now, makePrompt);
  const { sessionId } = shown.session;
  const tell = keyboard
    ? undefined
    : createQuestionTeller(sessionId, isAnswerable, progress.note, output.toCommand);
  output.divert(progress.note);
  return {
    ...progress,
    update(snapshot) {
      progress.update(snapshot);
      tell?.(snapshot.view.questions);
    },
    end() {
      output.divert(undefined);
      progress.end();
    },
  };
}

function toPromptMaker({ session, host }: Shown, keyboard: Keyboard): PromptMaker {
  return (screen) =>
    createQuestionPrompt({
      sessionId: session.sessionId,
      screen,
      keyboard,
      by: toAnswerer(host.environment),
      answer: (answer) => session.answerPermission(answer),
      toCommand: host.output.toCommand,
      interrupt: () => process.kill(process.pid, "SIGINT"),
    });
}

/** A session that was begun with somebody to ask may go on without: then its questions are answered at once, and the agents are told the truth. */
function denyingQuestions(progress: Progress, { session }: Shown): Progress {
  const denied = new Set<string>();
  const deny = async ({ id }: PermissionQuestionRecord) => {
    denied.add(id);
    const reason = "nobody is there to answer";
    await session
      .answerPermission({ questionId: id, verdict: "deny", reason, by: "the command line" })
      .catch((error) => {
        const isGone = error instanceof SessionRefusal && error.code === refusals.unknownQuestion;
        if (!isGone) denied.delete(id);
      });
  };
  return {
    ...progress,
    update(snapshot) {
      progress.update(snapshot);
      const open = snapshot.view.questions.filter(({ id, state }) => state === "open" && !denied.has(id));
      for (const question of open) void deny(question);
    },
  };
}
