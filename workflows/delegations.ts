import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  type ChildWorkflowHandle,
  condition,
  createEventGroup,
  type EventGroupMarker,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  startChild,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/workflow";
import type { AgentRunInput } from "../core/agent-run.ts";
import {
  type Delegation,
  dropOldest,
  type Settlement,
  type StopCause,
  settleDelegation,
} from "../core/delegation.ts";
import { CHILD_GRACE_SECONDS } from "../core/limits.ts";
import { toLostChildEnding } from "../core/lost-child.ts";
import { toMarkdownQuote, toSummaryLine } from "../core/markdown.ts";
import { toDelegateWorkflowId } from "../core/messages.ts";
import { AGENT_SEARCH_ATTRIBUTE, STATUS_SEARCH_ATTRIBUTE } from "../core/search-attributes.ts";
import type { DelegateInput } from "../core/session.ts";
import { cutAt, toOneLine } from "../core/text.ts";
import { salvageRun } from "./agent-run.ts";
import { type delegateWorkflow, stopSignal } from "./delegate.ts";
import { countDelegation, measureStop } from "./measure.ts";
import { withdrawQuestions } from "./permission-handler.ts";
import {
  findDelegation,
  listRunning,
  replaceDelegation,
  type SessionContext,
  showSession,
} from "./session-context.ts";

/** The only place that starts, watches and stops children. */
export interface Delegations {
  /** Start the child of a recorded delegation and watch it to its end; returns at once. */
  start(delegation: Delegation, run: AgentRunInput): void;
  /** Take a delegate's own word of how it ended. */
  settle(settlement: Settlement): void;
  /** Ask a running delegate to end. The first cause stays; a stop that was not confirmed is asked for again. */
  requestStop(delegation: Delegation, cause: StopCause): void;
}

export function createDelegations(session: SessionContext): Delegations {
  const children = new Map<string, Promise<ChildWorkflowHandle<typeof delegateWorkflow>>>();
  const stopsRequestedAtMs = new Map<string, number>();

  function settle(settlement: Settlement): void {
    const delegation = findDelegation(session, settlement.delegationId);
    if (delegation === undefined || delegation.status !== "running") return;
    replaceDelegation(session, settleDelegation(delegation, settlement, Date.now()));
    countDelegation(delegation.agent, settlement);
    measureStop(settlement, stopsRequestedAtMs.get(delegation.id));
    stopsRequestedAtMs.delete(delegation.id);
    session.state.delegations = dropOldest(session.state.delegations);
    withdrawQuestions(session, settlement.delegationId);
    showSession(session);
  }

  async function watch(
    delegation: Delegation,
    run: AgentRunInput,
    child: Promise<ChildWorkflowHandle<typeof delegateWorkflow>>,
  ): Promise<void> {
    try {
      const handle = await child;
      settle(await handle.result());
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) await outwait(delegation, run);
      else settle(await toSettlementOfLostChild(session, delegation, toEnding(error)));
    } finally {
      children.delete(delegation.id);
    }
  }

  /** After a reset of the session its delegate of before runs on: it will tell how it ends, as long as it can end at all. */
  async function outwait({ id }: Delegation, { limits }: AgentRunInput): Promise<void> {
    children.delete(id);
    const hasEnded = () => findDelegation(session, id)?.status !== "running";
    const patienceMs = (limits.maxDurationSeconds + CHILD_GRACE_SECONDS) * 1000;
    await condition(hasEnded, patienceMs, { summary: `${id} runs on from before a reset` });
    const delegation = findDelegation(session, id);
    if (delegation?.status !== "running") return;
    settle(await toSettlementOfLostChild(session, delegation, toLostChildEnding("timed-out", "")));
  }

  async function stop(delegation: Delegation, cause: StopCause): Promise<void> {
    const workflowId = toDelegateWorkflowId(session.id, delegation.id);
    const isReached = await signalStop(children.get(delegation.id), workflowId, cause);
    // Whoever is watched is settled by its watcher.
    if (isReached || children.has(delegation.id)) return;
    settle(await toSettlementOfLostChild(session, delegation, toLostChildEnding("terminated", "")));
  }

  return {
    start(delegation, run) {
      const child = startDelegate(session, delegation, run);
      children.set(delegation.id, child);
      void watch(delegation, run, child);
      showSession(session);
    },
    settle,
    requestStop(delegation, cause) {
      if (delegation.status !== "running") return;
      replaceDelegation(session, { ...delegation, stopRequested: delegation.stopRequested ?? cause });
      if (!stopsRequestedAtMs.has(delegation.id)) stopsRequestedAtMs.set(delegation.id, Date.now());
      void toEventGroup(delegation).withScope(() => stop(delegation, cause));
    },
  };
}

/** Whether the request has reached its delegate. */
async function signalStop(
  child: Promise<ChildWorkflowHandle<typeof delegateWorkflow>> | undefined,
  workflowId: string,
  cause: StopCause,
): Promise<boolean> {
  try {
    const handle = await child;
    await handle?.signal(stopSignal, { cause });
    if (handle !== undefined) return true;
  } catch (error) {
    log.info("a stop did not reach its delegate as a child", { error });
  }
  try {
    // After a reset of the session a delegate is the child of the run before.
    await getExternalWorkflowHandle(workflowId).signal(stopSignal, { cause, hasToTell: true });
    return true;
  } catch (error) {
    log.info("a stop found its delegate gone", { error });
    return false;
  }
}

/** All that a session does about one delegation is one group in Temporal Web. */
function toEventGroup(delegation: Delegation): EventGroupMarker {
  return createEventGroup(`${delegation.id} · ${delegation.agent}`, { id: delegation.id });
}

function startDelegate(
  session: SessionContext,
  delegation: Delegation,
  run: AgentRunInput,
): Promise<ChildWorkflowHandle<typeof delegateWorkflow>> {
  const { hasSearchAttributes } = session.input;
  const input: DelegateInput = { delegationId: delegation.id, run, hasSearchAttributes };
  const start = () =>
    startChild<typeof delegateWorkflow>("delegateWorkflow", {
      workflowId: toDelegateWorkflowId(session.id, delegation.id),
      args: [input],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      workflowExecutionTimeout: (run.limits.maxDurationSeconds + CHILD_GRACE_SECONDS) * 1000,
      staticSummary: toSummaryLine(`${delegation.agent}: ${delegation.description || run.prompt}`, 200),
      staticDetails: `**Task** of ${delegation.id}\n\n${toMarkdownQuote(run.prompt, 4000)}`,
      eventGroups: [toEventGroup(delegation)],
      memo: { agent: delegation.agent, description: toOneLine(delegation.description, 200) },
      ...(hasSearchAttributes
        ? {
            typedSearchAttributes: [
              { key: AGENT_SEARCH_ATTRIBUTE, value: delegation.agent },
              { key: STATUS_SEARCH_ATTRIBUTE, value: "running" },
            ],
          }
        : {}),
    });
  // A cancellation of the session ends its delegates in order, as aborted, and not as if each had been cancelled by itself.
  return CancellationScope.nonCancellable(start);
}

type Ending = ReturnType<typeof toLostChildEnding>;

/** Settle a child that could not settle itself, with what it left in the state folder. */
async function toSettlementOfLostChild(
  session: SessionContext,
  delegation: Delegation,
  ending: Ending,
): Promise<Settlement> {
  const remains = await salvageRun({ sessionId: session.id, chain: delegation.id }, session.taskQueue);
  return {
    delegationId: delegation.id,
    ...ending,
    ...remains,
    attempts: 1,
    denials: [],
    model: delegation.model,
  };
}

function toEnding(error: unknown): Ending {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  const message = cutAt(cause instanceof Error ? cause.message : String(cause), 2000);
  if (cause instanceof TerminatedFailure) return toLostChildEnding("terminated", message);
  if (cause instanceof TimeoutFailure) return toLostChildEnding("timed-out", message);
  return toLostChildEnding(error instanceof ChildWorkflowFailure ? "failed" : "not-started", message);
}

/** Ask all running delegates to end. */
export function requestStopOfAll(session: SessionContext, delegations: Delegations, cause: StopCause): void {
  for (const delegation of listRunning(session)) delegations.requestStop(delegation, cause);
}
