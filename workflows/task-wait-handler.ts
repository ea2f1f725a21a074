import { condition } from "@temporalio/workflow";
import type { Delegation } from "../core/delegation.ts";
import { toSummaryLine } from "../core/markdown.ts";
import { refusals, type TaskWaitAnswer, type TaskWaitCall } from "../core/messages.ts";
import {
  clampWaitSeconds,
  describeProblems,
  type TaskWaitInput,
  taskWaitInputSchema,
  toNeeded,
} from "../core/task-calls.ts";
import { boundReports } from "../core/task-wait.ts";
import { salvageRun } from "./agent-run.ts";
import { refuse } from "./refuse.ts";
import { findDelegation, markHandedOver, replaceDelegation, type SessionContext } from "./session-context.ts";

/** Ids that a call names, told apart. Duplicates count once; unknown ids are no targets. */
export interface Targets {
  known: string[];
  unknown: string[];
  noLongerKept: string[];
}

export function sortIds(session: SessionContext, ids: readonly string[]): Targets {
  const targets: Targets = { known: [], unknown: [], noLongerKept: [] };
  for (const id of new Set(ids)) {
    if (findDelegation(session, id) !== undefined) targets.known.push(id);
    else if (wasIssued(session, id)) targets.noLongerKept.push(id);
    else targets.unknown.push(id);
  }
  return targets;
}

function wasIssued(session: SessionContext, id: string): boolean {
  const number = /^task-([1-9]\d{0,14})$/.exec(id)?.[1];
  return number !== undefined && Number(number) <= session.state.lastDelegation;
}

/** Check a TaskWait call before it is accepted. @throws ApplicationFailure Input.Invalid. */
export function parseTaskWait(input: unknown): TaskWaitInput {
  const parsed = taskWaitInputSchema.safeParse(input);
  return parsed.success
    ? parsed.data
    : refuse(refusals.badInput, `TaskWait: ${describeProblems(parsed.error)}`);
}

/**
 * Wait until enough targets have settled or the time is over, and answer with what there is.
 *
 * The state is read after the wait: a delegate that settled in the same instant is reported as settled. Changes nothing but the mark that a
 * report was handed over.
 */
export async function handleTaskWait(session: SessionContext, call: TaskWaitCall): Promise<TaskWaitAnswer> {
  const input = parseTaskWait(call.input);
  const targets = toTargets(session, input);
  const needed = toNeeded(input, targets.known.length);
  const startedAtMs = Date.now();
  const hasEnough = () => listTargets(session, targets.known).filter(isSettled).length >= needed;
  if (!hasEnough()) {
    session.openWaits += 1;
    await condition(() => hasEnough() || session.isClosing, clampWaitSeconds(input.timeoutSeconds) * 1000, {
      summary: toSummaryLine(
        `TaskWait for ${needed} of ${targets.known.length}: ${targets.known.join(", ")}`,
        120,
      ),
    });
    session.openWaits -= 1;
  }
  await bringBackReports(session, targets.known);
  const found = listTargets(session, targets.known);
  if (!call.isObserver) markHandedOver(session, found);
  return {
    waitedSeconds: (Date.now() - startedAtMs) / 1000,
    isTimedOut: found.filter(isSettled).length < needed,
    targets: boundReports(found),
    reportLengths: found.map((target) => target.report.length),
    unknown: targets.unknown,
    noLongerKept: [
      ...targets.noLongerKept,
      ...targets.known.filter((id) => findDelegation(session, id) === undefined),
    ],
    nowMs: Date.now(),
  };
}

function toTargets(session: SessionContext, input: TaskWaitInput): Targets {
  if (input.delegationIds && input.delegationIds.length > 0) return sortIds(session, input.delegationIds);
  const known = session.state.delegations.filter(
    (record) => record.status === "running" || !record.isHandedOver,
  );
  return { known: known.map((record) => record.id), unknown: [], noLongerKept: [] };
}

function listTargets(session: SessionContext, ids: readonly string[]): Delegation[] {
  return ids.flatMap((id) => findDelegation(session, id) ?? []);
}

function isSettled(delegation: Delegation): boolean {
  return delegation.status !== "running";
}

/** Reports that one answer reads back; the others stay where they are and are said to. */
const READ_BACK = 5;

/** Read back reports that were left behind as the session continued as new. One that can't be read is marked as lost and not tried again. */
async function bringBackReports(session: SessionContext, ids: readonly string[]): Promise<void> {
  const away = listTargets(session, ids).filter(({ reportState }) => reportState === "away");
  for (const target of away.slice(0, READ_BACK)) {
    const { report, turns, toolCalls, usage } = await salvageRun(
      { sessionId: session.id, chain: target.id },
      session.taskQueue,
    );
    const present = findDelegation(session, target.id);
    if (present === undefined) continue;
    const { reportState: _, ...rest } = present;
    const isSilent = rest.turns === 0;
    if (report !== "")
      replaceDelegation(
        session,
        isSilent ? { ...rest, report, turns, toolCalls, usage } : { ...rest, report },
      );
    else replaceDelegation(session, isSilent ? rest : { ...rest, reportState: "lost" });
  }
}
