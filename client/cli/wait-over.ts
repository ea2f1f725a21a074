import { setTimeout as sleep } from "node:timers/promises";
import type { Delegation } from "../../core/delegation.ts";
import type { SessionView, TaskWaitAnswer } from "../../core/messages.ts";
import { boundReports } from "../../core/task-wait.ts";
import { SessionError, sessionErrorCodes } from "../session-error.ts";
import type { SessionHandle } from "../session-handle.ts";

const LOOK_EVERY_MS = 1000;

/** Whether a call failed because its session has ended, in whatever way. */
export function isSessionOver(error: unknown): boolean {
  return (
    error instanceof SessionError &&
    (error.code === sessionErrorCodes.closed || error.code === sessionErrorCodes.notFound)
  );
}

export interface OverWait {
  ids: readonly string[];
  /** Targets that must have settled. */
  wanted: (targets: number) => number;
  deadlineMs: number;
  startedAtMs: number;
  signal: AbortSignal;
  /** What was last seen of the session, should it be deleted. */
  seen: SessionView | undefined;
}

/** Wait for delegates of a session that has ended: they are told by their own workflows, which may still be ending. */
export async function waitForOver(session: SessionHandle, over: OverWait): Promise<TaskWaitAnswer> {
  for (;;) {
    const known = await readDelegations(session, over.seen);
    const found = over.ids.map((id) => known.find((record) => record.id === id));
    const targets =
      over.ids.length === 0
        ? known.filter((record) => record.status === "running" || !record.isHandedOver)
        : found.filter((record) => record !== undefined);
    const settled = targets.filter(({ status }) => status !== "running").length;
    const isEnough = settled >= over.wanted(targets.length);
    if (isEnough || Date.now() >= over.deadlineMs) return toAnswer(over, targets, known, !isEnough);
    await sleep(LOOK_EVERY_MS, undefined, { signal: over.signal });
  }
}

async function readDelegations(
  session: SessionHandle,
  seen: SessionView | undefined,
): Promise<readonly Delegation[]> {
  try {
    return (await session.story()).view.delegations;
  } catch (error) {
    if (seen === undefined || !isSessionOver(error)) throw error;
    return await session.lookUp(seen.delegations);
  }
}

function toAnswer(
  over: OverWait,
  targets: readonly Delegation[],
  known: readonly Delegation[],
  isTimedOut: boolean,
): TaskWaitAnswer {
  const last = Math.max(0, ...known.map(({ id }) => Number(/^task-(\d+)$/.exec(id)?.[1] ?? 0)));
  const missing = [...new Set(over.ids)].filter((id) => !known.some((record) => record.id === id));
  const isOld = (id: string) => Number(/^task-([1-9]\d*)$/.exec(id)?.[1] ?? Number.POSITIVE_INFINITY) <= last;
  return {
    waitedSeconds: (Date.now() - over.startedAtMs) / 1000,
    isTimedOut,
    targets: boundReports(targets),
    reportLengths: targets.map(({ report }) => report.length),
    unknown: missing.filter((id) => !isOld(id)),
    noLongerKept: missing.filter(isOld),
    nowMs: Date.now(),
  };
}
