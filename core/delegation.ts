import { z } from "zod";
import { type Denial, runResultSchema } from "./agent-run.ts";
import { KEPT_RECORDS } from "./limits.ts";
import { delegationStatuses, noUsage } from "./status.ts";
import { cutAt } from "./text.ts";

/** What a delegate leaves behind when it ends; travels as the settled signal and as the child workflow's result. */
export const settlementSchema = runResultSchema.extend({
  delegationId: z.string(),
  status: z.enum(delegationStatuses).exclude(["running"]),
});
export type Settlement = z.infer<typeof settlementSchema>;

export const stopCauses = ["stopped", "aborted"] as const;
/** Why a session ends a delegate: a user's or model's TaskStop, or the end of the turn. */
export type StopCause = (typeof stopCauses)[number];

/** The session's record of one handed-off piece of work. Times are milliseconds since the epoch in workflow time. */
export const delegationSchema = runResultSchema.extend({
  id: z.string(),
  agent: z.string(),
  description: z.string(),
  /** Key of the tool call that started it: a repeated call is the same delegation. */
  callKey: z.string().optional(),
  status: z.enum(delegationStatuses),
  startedAtMs: z.number(),
  settledAtMs: z.number().optional(),
  stopRequested: z.enum(stopCauses).optional(),
  resumedFrom: z.string().optional(),
  /** Whether a TaskWait has given its report to the main agent. */
  isHandedOver: z.boolean(),
  /** `away`: left behind as the session continued as new, to be read back when it is asked for; `lost`: that was tried in vain. */
  reportState: z.enum(["away", "lost"]).optional(),
  tools: z.array(z.string()),
  /** Tells whether the definition has changed when the delegation is resumed later. */
  definitionFingerprint: z.string(),
});
export type Delegation = z.infer<typeof delegationSchema>;

export interface NewDelegation {
  number: number;
  agent: string;
  description: string;
  callKey: string | undefined;
  resumedFrom: string | undefined;
  definitionFingerprint: string;
  model: string;
  tools: string[];
  nowMs: number;
}

/** Make the record of a delegation that has just been started. */
export function createDelegation(start: NewDelegation): Delegation {
  return {
    id: `task-${start.number}`,
    agent: start.agent,
    description: start.description,
    ...(start.callKey === undefined ? {} : { callKey: start.callKey }),
    ...(start.resumedFrom === undefined ? {} : { resumedFrom: start.resumedFrom }),
    status: "running",
    startedAtMs: start.nowMs,
    isHandedOver: false,
    report: "",
    turns: 0,
    toolCalls: 0,
    usage: noUsage,
    attempts: 0,
    denials: [],
    model: start.model,
    tools: start.tools,
    definitionFingerprint: start.definitionFingerprint,
  };
}

/** Denials that a record keeps, each with a target and a reason of at most 200 characters: a hundred records must fit one query. */
const KEPT_DENIALS = 10;

function toShortDenial({ tool, target, reason }: Denial): Denial {
  return { tool: cutAt(tool, 40), target: cutAt(target, 200), reason: cutAt(reason, 200) };
}

/** Settle a delegation. The first settlement wins; a later one changes nothing and the same record is returned. */
export function settleDelegation(delegation: Delegation, settlement: Settlement, nowMs: number): Delegation {
  if (delegation.status !== "running") return delegation;
  const { delegationId: _, ...ending } = settlement;
  // A run that was ended while no attempt of it ran could not speak; what it left is read when it is asked for.
  const isSilent =
    settlement.report === "" && (settlement.status === "stopped" || settlement.status === "aborted");
  return {
    ...delegation,
    ...ending,
    ...(isSilent ? { reportState: "away" as const } : {}),
    denials: settlement.denials.slice(0, KEPT_DENIALS).map(toShortDenial),
    settledAtMs: nowMs,
  };
}

/** Drop the records that settled earliest until {@link KEPT_RECORDS} settled ones are left. Running ones stay. */
export function dropOldest(delegations: readonly Delegation[]): Delegation[] {
  const settled = delegations.filter((delegation) => delegation.status !== "running");
  const surplus = settled
    .toSorted((left, right) => (left.settledAtMs ?? 0) - (right.settledAtMs ?? 0))
    .slice(0, Math.max(0, settled.length - KEPT_RECORDS));
  const dropped = new Set(surplus.map((delegation) => delegation.id));
  return delegations.filter((delegation) => !dropped.has(delegation.id));
}

/** Seconds from Task to settling, or until now while it runs. */
export function toElapsedSeconds(delegation: Delegation, nowMs: number): number {
  return Math.max(0, (delegation.settledAtMs ?? nowMs) - delegation.startedAtMs) / 1000;
}
