import { refusals, type SessionView } from "../core/messages.ts";
import { SessionRefusal } from "../core/session-port.ts";

const JUDGEMENTS = 3;

/**
 * Make a call that the session judges, and make it again if it was refused for a state that has passed.
 *
 * A worker that has just taken a session over can judge a call before it has repeated what happened last: the end of a turn, of a delegate, the
 * beginning of a turn. Its next judgement is made on what it then knows. A call that was refused has changed nothing.
 *
 * @param turn The turn that the call belongs to, if it does.
 */
export async function judgeAgain<Answer>(
  call: () => Promise<Answer>,
  view: () => Promise<SessionView>,
  turn?: number,
): Promise<Answer> {
  for (let judgement = 1; ; judgement += 1) {
    try {
      return await call();
    } catch (error) {
      if (judgement === JUDGEMENTS || !(error instanceof SessionRefusal)) throw error;
      // Where nobody tells how things stand now, the refusal is what is known.
      const now = mayPass(error.code) ? await view().catch(() => undefined) : undefined;
      if (now === undefined || !hasPassed(error.code, now, turn)) throw error;
    }
  }
}

function mayPass(code: string): boolean {
  return code === refusals.turnRunning || code === refusals.capReached || code === refusals.turnOver;
}

function hasPassed(code: string, view: SessionView, turn: number | undefined): boolean {
  const last = view.turns.at(-1);
  switch (code) {
    case refusals.turnRunning:
      return last?.status !== "running";
    case refusals.capReached:
      return view.delegations.filter(({ status }) => status === "running").length < view.runningCap;
    default:
      return last?.status === "running" && last.number === turn;
  }
}
