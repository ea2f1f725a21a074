import {
  CancellationScope,
  defineSignal,
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { AgentRunOutcome } from "../core/agent-run.ts";
import type { Settlement, StopCause } from "../core/delegation.ts";
import { toSummaryLine } from "../core/markdown.ts";
import { signalNames, toDelegateTaskQueue } from "../core/messages.ts";
import { STATUS_SEARCH_ATTRIBUTE } from "../core/search-attributes.ts";
import { type DelegateInput, type StopRequest, stopRequestSchema } from "../core/session.ts";
import type { FinalStatus } from "../core/status.ts";
import { carryOutRun } from "./agent-run.ts";
import { toDelegateDetails } from "./current-details.ts";

export const stopSignal = defineSignal<[StopRequest]>(signalNames.stop);
export const delegateSettledSignal = defineSignal<[Settlement]>(signalNames.delegateSettled);

/**
 * Carry one delegation from its start to its settlement. The only place where a run's outcome becomes a delegation's status.
 *
 * Settles by a signal to the session and by its own result, whichever comes first. A delegate that the session itself asked to end settles by its
 * result alone: the session is waiting for it, and the histories stay short. After a reset of the session the result goes to the run before, so that the
 * request says that it has to be told.
 */
export async function delegateWorkflow(input: DelegateInput): Promise<Settlement> {
  const scope = new CancellationScope({ cancellable: true });
  let stopCause: StopCause | undefined;
  let hasToTell = false;
  setHandler(stopSignal, (request) => {
    // An operator's bare signal is a stop too.
    const parsed = stopRequestSchema.safeParse(request);
    stopCause ??= parsed.data?.cause ?? "stopped";
    hasToTell ||= !parsed.success || (parsed.data.hasToTell ?? false);
    scope.cancel();
  });
  const root = CancellationScope.current();
  setCurrentDetails(toDelegateDetails(input, undefined));

  const outcome = await scope.run(() =>
    carryOutRun(input.run, {
      taskQueue: toDelegateTaskQueue(workflowInfo().taskQueue),
      summary: toSummaryLine(`${input.run.agent} works on ${input.delegationId}: ${input.run.prompt}`, 120),
      isCancelRequested: () => stopCause !== undefined || root.consideredCancelled,
    }),
  );

  const settlement = toSettlement(input, outcome, stopCause ?? "stopped");
  setCurrentDetails(toDelegateDetails(input, settlement));
  if (input.hasSearchAttributes) {
    upsertSearchAttributes([{ key: STATUS_SEARCH_ATTRIBUTE, value: settlement.status }]);
  }
  if (stopCause === undefined || hasToTell)
    await CancellationScope.nonCancellable(() => tellSession(input, settlement));
  return settlement;
}

/**
 * Turn an outcome into a settlement, with how it ended in front: Temporal Web shows a result from its beginning. A run cancelled by somebody outside the session, in Temporal Web say, counts as stopped.
 */
export function toSettlement(
  input: DelegateInput,
  outcome: AgentRunOutcome,
  stopCause: StopCause,
): Settlement {
  const { status, error, ...rest } = outcome;
  return {
    delegationId: input.delegationId,
    status: toStatus(status, stopCause),
    ...(error === undefined ? {} : { error }),
    ...rest,
  };
}

function toStatus(status: AgentRunOutcome["status"], stopCause: StopCause): FinalStatus {
  switch (status) {
    case "completed":
    case "truncated":
    case "timed_out":
    case "failed":
      return status;
    case "cancelled":
      return stopCause;
  }
}

async function tellSession(input: DelegateInput, settlement: Settlement): Promise<void> {
  try {
    await getExternalWorkflowHandle(input.run.sessionId).signal(delegateSettledSignal, settlement);
  } catch (error) {
    // The session is closed: nobody waits, and the settlement is this workflow's result all the same.
    log.warn("the session could not be told", { error });
  }
}
