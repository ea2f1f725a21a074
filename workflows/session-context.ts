import { type CancellationScope, setCurrentDetails, workflowInfo } from "@temporalio/workflow";
import type { Delegation } from "../core/delegation.ts";
import { type SessionInput, type SessionState, type Turn, toInitialState } from "../core/session.ts";
import type { TraceContext } from "../core/trace-context.ts";
import { toSessionDetails } from "./current-details.ts";

/** The turn that is being carried out, as this run of the workflow knows it. */
export interface ActiveTurn {
  number: number;
  scope: CancellationScope | undefined;
  isAborted: boolean;
  isEnding: boolean;
  trace: TraceContext | undefined;
}

/** A running session: what it was asked to be, what it carries, and what is only true of this run of it. */
export interface SessionContext {
  readonly id: string;
  readonly taskQueue: string;
  readonly input: SessionInput;
  readonly state: SessionState;
  /** Set from the moment a message is accepted until its turn has ended. */
  activeTurn: ActiveTurn | undefined;
  isClosing: boolean;
  /** TaskWait calls that are being waited for. */
  openWaits: number;
  /** Task and TaskWait calls in this run of the workflow. */
  updates: number;
  /** When the definitions were last read, in this run of the workflow; undefined until they were. */
  catalogueReadAtMs: number | undefined;
  /** Why the last reading of the definitions failed. */
  catalogueFault: string | undefined;
}

export function createSessionContext(input: SessionInput, carried: SessionState | undefined): SessionContext {
  const { workflowId, taskQueue } = workflowInfo();
  return {
    id: workflowId,
    taskQueue,
    input,
    state: carried ?? toInitialState(input.permissionMode),
    activeTurn: undefined,
    isClosing: false,
    openWaits: 0,
    updates: 0,
    catalogueReadAtMs: undefined,
    catalogueFault: undefined,
  };
}

/** Show the session's present state in Temporal Web. */
export function showSession(session: SessionContext): void {
  setCurrentDetails(toSessionDetails(session.input, session.state, Date.now()));
}

export function listRunning(session: SessionContext): Delegation[] {
  return session.state.delegations.filter((delegation) => delegation.status === "running");
}

export function findDelegation(session: SessionContext, id: string): Delegation | undefined {
  return session.state.delegations.find((delegation) => delegation.id === id);
}

/** Replace a record by its next version; a record that was dropped meanwhile stays dropped. */
export function replaceDelegation(session: SessionContext, next: Delegation): void {
  const index = session.state.delegations.findIndex((delegation) => delegation.id === next.id);
  if (index >= 0) session.state.delegations[index] = next;
}

export function findTurn(session: SessionContext, number: number): Turn | undefined {
  return session.state.turns.find((turn) => turn.number === number);
}

/** Remember that the main agent has been given these reports. Reports that were not brought along have not. */
export function markHandedOver(session: SessionContext, delegations: readonly Delegation[]): void {
  for (const delegation of delegations) {
    if (delegation.status === "running" || delegation.reportState === "away") continue;
    replaceDelegation(session, { ...delegation, isHandedOver: true });
  }
}
