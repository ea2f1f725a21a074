import { setTimeout as delay } from "node:timers/promises";
import type { PermissionQuestionRecord, PermissionRequest } from "../../core/permission-questions.ts";
import type { SessionPort } from "../../core/session-port.ts";

const FIRST_LOOK_MS = 250;
/** A person takes their time: looking more seldom costs them nothing. */
const LAST_LOOK_MS = 2_000;

/**
 * Put a question to the session and wait for its answer, for days if need be.
 *
 * The question lives in the session's workflow: it survives this worker, whose next attempt puts the same one and finds its answer. While the
 * server or the session's worker is away, the waiting goes on.
 */
export async function askPerson(
  session: SessionPort,
  request: PermissionRequest,
  signal: AbortSignal,
): Promise<{ isAllowed: true } | { isAllowed: false; reason: string }> {
  for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LAST_LOOK_MS, lookMs * 2)) {
    const question = await look(session, request);
    if (question !== undefined && question.state !== "open") return toVerdict(question);
    await delay(lookMs, undefined, { signal });
  }
}

async function look(
  session: SessionPort,
  request: PermissionRequest,
): Promise<PermissionQuestionRecord | undefined> {
  try {
    const { question } = await session.permission(request.key);
    if (question === undefined) await session.askPermission(request);
    return question;
  } catch {
    return undefined;
  }
}

function toVerdict(
  question: PermissionQuestionRecord,
): { isAllowed: true } | { isAllowed: false; reason: string } {
  switch (question.state) {
    case "allowed":
      return { isAllowed: true };
    case "denied": {
      const because =
        question.answer === undefined || question.answer.trim() === "" ? "" : `: ${question.answer}`;
      return { isAllowed: false, reason: `${question.by ?? "the user"} denied it${because}` };
    }
    case "withdrawn":
    case "open":
      return { isAllowed: false, reason: "the question about it was withdrawn" };
  }
}
