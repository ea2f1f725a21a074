import type { PermissionAnswered } from "../../core/messages.ts";
import type { PermissionAnswer } from "../../core/permission-questions.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import type { ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { describeQuestion, describeStanding, toAnswerer } from "./questions.ts";
import { withSession } from "./with-session.ts";

export interface ApproveFlags extends ServerFlags {
  forSession: boolean;
}

export interface DenyFlags extends ServerFlags {
  reason?: string;
}

/** Allow the call that a question is about. */
export async function approve(
  sessionId: string,
  questionId: string,
  flags: ApproveFlags,
  host: Host,
): Promise<ExitCode> {
  const forSession = flags.forSession ? { forSession: true } : {};
  return await answer(sessionId, { questionId, verdict: "allow", ...forSession }, flags, host);
}

/** Deny the call that a question is about; the agent is told the reason and goes on without. */
export async function deny(
  sessionId: string,
  questionId: string,
  flags: DenyFlags,
  host: Host,
): Promise<ExitCode> {
  const reason = flags.reason === undefined ? {} : { reason: flags.reason };
  return await answer(sessionId, { questionId, verdict: "deny", ...reason }, flags, host);
}

/** A late or second answer changes nothing: 0 if the question stands as was asked for all the same, else 1. */
async function answer(
  sessionId: string,
  given: Omit<PermissionAnswer, "by">,
  flags: ServerFlags,
  host: Host,
): Promise<ExitCode> {
  return await withSession(sessionId, "look", flags, host, async ({ session }) => {
    const by = toAnswerer(host.environment);
    const answered = await host.interruption.orElse(session.answerPermission({ ...given, by }));
    const { id, state } = answered.question;
    host.output.event({
      type: "answer",
      session: sessionId,
      id,
      state,
      hasTakenEffect: answered.hasTakenEffect,
      ...(answered.question.by === undefined ? {} : { by: answered.question.by }),
      ...(answered.question.answer === undefined ? {} : { answer: answered.question.answer }),
    });
    host.output.print(toAnsweredText(answered));
    const wanted = given.verdict === "allow" ? "allowed" : "denied";
    return state === wanted ? exitCodes.completed : exitCodes.failed;
  });
}

function toAnsweredText({ question, hasTakenEffect }: PermissionAnswered): string {
  const standing = describeStanding(question);
  return hasTakenEffect
    ? `${describeQuestion(question)}: ${standing}`
    : `${question.id} was settled before (${standing}): nothing has changed.`;
}

/** Change a session's permission mode while it runs; open questions are judged again by it. */
export async function mode(
  sessionId: string,
  wanted: PermissionMode,
  flags: ServerFlags,
  host: Host,
): Promise<ExitCode> {
  return await withSession(sessionId, "look", flags, host, async ({ session }) => {
    await host.interruption.orElse(session.setPermissionMode(wanted));
    const { questions } = await host.interruption.orElse(session.view());
    const open = questions.filter(({ state }) => state === "open");
    host.output.event({
      type: "mode",
      session: sessionId,
      mode: wanted,
      openQuestions: open.map(({ id }) => id),
    });
    host.output.print(
      [
        `The permission mode of ${sessionId} is ${wanted}.`,
        ...open.map((question) => `Still open: ${describeQuestion(question)}`),
      ].join("\n"),
    );
    return exitCodes.completed;
  });
}
