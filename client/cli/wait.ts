import { randomUUID } from "node:crypto";
import { TASK_WAIT_MAX_SECONDS } from "../../core/limits.ts";
import type { SessionView, TaskWaitAnswer } from "../../core/messages.ts";
import { toTaskWaitText } from "../../core/task-wait.ts";
import { CliError } from "./cli-error.ts";
import type { ServerFlags } from "./connect.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Host } from "./host.ts";
import { withTimes } from "./json-times.ts";
import { keepAnswering } from "./session-worker.ts";
import { isSessionOver, waitForOver } from "./wait-over.ts";
import { type OpenedSession, withSession } from "./with-session.ts";

export interface WaitFlags extends ServerFlags {
  mode: "any" | "all";
  min?: number;
  timeout: number;
}

/** Wait for delegations as an observer: the main agent's own wait still gets their reports. */
export async function wait(
  sessionId: string,
  delegationIds: string[],
  flags: WaitFlags,
  host: Host,
): Promise<ExitCode> {
  return await withSession(sessionId, "look", flags, host, async (opened) => {
    const { session, worker } = opened;
    const watching = new AbortController();
    void keepAnswering(session, () => worker.start(), watching.signal);
    const waiting = waitFor(opened, delegationIds, flags, host);
    const answer = await Promise.race([waiting, worker.failed]).finally(() => watching.abort());
    for (const target of answer.targets) host.output.event(withTimes({ type: "delegation", ...target }));
    const { isTimedOut, waitedSeconds, unknown, noLongerKept } = answer;
    host.output.event({
      type: "wait",
      session: session.sessionId,
      isTimedOut,
      waitedSeconds,
      unknown,
      noLongerKept,
    });
    const running = answer.targets.filter(({ status }) => status === "running").map(({ id }) => id);
    host.output.print(toTaskWaitText(answer, await session.live(running)));
    if (answer.targets.length === 0 && delegationIds.length > 0) {
      const list = delegationIds.map((id) => JSON.stringify(id.slice(0, 100))).join(", ");
      throw new CliError("Delegation.Unknown", `none of these is a delegation of ${sessionId}: ${list}`);
    }
    return isTimedOut ? exitCodes.endedEarly : exitCodes.completed;
  });
}

/** A person may wait for longer than one call may: the calls follow one another. A session that ends meanwhile takes no reports with it. */
async function waitFor(
  { session, summary }: OpenedSession,
  ids: string[],
  flags: WaitFlags,
  host: Host,
): Promise<TaskWaitAnswer> {
  const { signal } = host.interruption;
  const startedAtMs = Date.now();
  const deadlineMs = startedAtMs + flags.timeout * 1000;
  const wanted = (targets: number) =>
    flags.mode === "all" ? targets : Math.min(targets, Math.max(1, flags.min ?? 1));
  const over = { wanted, deadlineMs, startedAtMs, signal };
  if (summary.status !== "open") return await waitForOver(session, { ...over, ids, seen: undefined });
  const seen = await session.view(signal);
  // Those that are meant are fixed at the start, so that a later round does not wait for others.
  const targets = ids.length > 0 ? ids : listUnsettled(seen);
  for (;;) {
    const input = {
      delegationIds: targets,
      mode: flags.mode,
      minCompleted: flags.min,
      timeoutSeconds: Math.min((deadlineMs - Date.now()) / 1000, TASK_WAIT_MAX_SECONDS),
    };
    const answer = await session
      .taskWait({ input, isObserver: true }, randomUUID(), signal)
      .catch(async (error) => {
        if (!isSessionOver(error)) throw error;
        host.output.say(`${error.message}. Its delegates are told by their own records`);
        return await waitForOver(session, { ...over, ids: targets, seen });
      });
    const waitedSeconds = (Date.now() - startedAtMs) / 1000;
    if (!answer.isTimedOut || waitedSeconds >= flags.timeout) return { ...answer, waitedSeconds };
  }
}

function listUnsettled({ delegations }: SessionView): string[] {
  return delegations
    .filter(({ status, isHandedOver }) => status === "running" || !isHandedOver)
    .map(({ id }) => id);
}
