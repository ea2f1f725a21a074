import { condition } from "@temporalio/workflow";
import { TASK_STOP_ANSWER_SECONDS } from "../core/limits.ts";
import { toSummaryLine } from "../core/markdown.ts";
import { refusals, type StopOutcome, type TaskStopAnswer, type TaskStopCall } from "../core/messages.ts";
import { describeProblems, type TaskStopInput, taskStopInputSchema } from "../core/task-calls.ts";
import type { Delegations } from "./delegations.ts";
import { refuse } from "./refuse.ts";
import { findDelegation, listRunning, type SessionContext } from "./session-context.ts";
import { sortIds } from "./task-wait-handler.ts";

/** Check a TaskStop call before it is accepted. @throws ApplicationFailure Input.Invalid. */
export function parseTaskStop(input: unknown): TaskStopInput {
  const parsed = taskStopInputSchema.safeParse(input);
  return parsed.success
    ? parsed.data
    : refuse(refusals.badInput, `TaskStop: ${describeProblems(parsed.error)}`);
}

/**
 * Stop delegates and answer after the fact: once each has settled, or after 10 s for a worker that can't confirm.
 *
 * A settled delegation keeps its status; a stop that was not confirmed may be asked for again.
 */
export async function handleTaskStop(
  session: SessionContext,
  delegations: Delegations,
  call: TaskStopCall,
): Promise<TaskStopAnswer> {
  const input = parseTaskStop(call.input);
  const ids =
    input.delegationIds && input.delegationIds.length > 0
      ? input.delegationIds
      : listRunning(session).map(({ id }) => id);
  const targets = sortIds(session, ids);
  const before = new Map(targets.known.map((id) => [id, findDelegation(session, id)?.status]));
  for (const id of targets.known) {
    const delegation = findDelegation(session, id);
    if (delegation !== undefined) delegations.requestStop(delegation, "stopped");
  }
  const areAllSettled = () => targets.known.every((id) => findDelegation(session, id)?.status !== "running");
  if (!areAllSettled()) {
    await condition(areAllSettled, TASK_STOP_ANSWER_SECONDS * 1000, {
      summary: toSummaryLine(`TaskStop waits for the end of ${targets.known.join(", ")}`, 120),
    });
  }
  return { outcomes: [...new Set(ids)].map((id) => toOutcome(session, id, targets.unknown, before.get(id))) };
}

function toOutcome(
  session: SessionContext,
  id: string,
  unknown: readonly string[],
  before: string | undefined,
): StopOutcome {
  if (unknown.includes(id)) return { delegationId: id, outcome: "unknown" };
  const status = findDelegation(session, id)?.status;
  if (status === undefined) return { delegationId: id, outcome: "no-longer-kept" };
  if (status === "running") return { delegationId: id, outcome: "not-confirmed" };
  if (status === "stopped" && before === "running") return { delegationId: id, outcome: "stopped" };
  return { delegationId: id, outcome: "already", status };
}
