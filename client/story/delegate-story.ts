import type { AgentRunInput } from "../../core/agent-run.ts";
import { toModelLabel } from "../../core/definition.ts";
import { createDelegation, type Delegation, settleDelegation } from "../../core/delegation.ts";
import { toDelegateWorkflowId } from "../../core/messages.ts";
import { delegateInputSchema } from "../../core/session.ts";
import type { SessionCalls } from "../session-calls.ts";
import type { Fact } from "./facts.ts";
import { toSettlement } from "./settlement.ts";

/** All that a delegate's own workflow tells of it. */
export interface DelegateStory {
  run: AgentRunInput;
  /** As its session would keep it, without what only the session knows. */
  record: Delegation;
  /** Attempts after the first, and why the one before each had ended; told once the run is over. */
  attempts: { atMs: number; attempt: number; before: string }[];
}

/** Read a delegate's story from its own history. Undefined where the server has none, or it is no delegate's. */
export async function readDelegateStory(
  calls: SessionCalls,
  sessionId: string,
  id: string,
): Promise<DelegateStory | undefined> {
  const facts = await calls.findFacts(toDelegateWorkflowId(sessionId, id));
  const started = facts?.find((fact) => fact.kind === "started");
  const run = delegateInputSchema.safeParse(started?.args[0]).data?.run;
  if (facts === undefined || started === undefined || run === undefined) return undefined;
  return { run, record: toRecord(id, run, started.atMs, facts), attempts: toAttempts(facts) };
}

function toRecord(id: string, run: AgentRunInput, nowMs: number, facts: readonly Fact[]): Delegation {
  const record = createDelegation({
    number: 0,
    agent: run.agent,
    description: "",
    callKey: undefined,
    resumedFrom: run.resumeFrom,
    definitionFingerprint: "",
    model: toModelLabel(run.model),
    tools: run.tools,
    nowMs,
  });
  const end = facts.findLast((fact) => fact.kind === "ended");
  const own = { ...record, id };
  return end === undefined
    ? own
    : settleDelegation(own, toSettlement(own, end.how, end.result, end.message), end.atMs);
}

function toAttempts(facts: readonly Fact[]): DelegateStory["attempts"] {
  return facts.flatMap((fact) =>
    fact.kind === "activity-started" && fact.attempt > 1
      ? [{ atMs: fact.atMs, attempt: fact.attempt, before: fact.lastFailure ?? "" }]
      : [],
  );
}
