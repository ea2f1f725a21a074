import { type Delegation, toElapsedSeconds } from "../../core/delegation.ts";
import type { Turn } from "../../core/session.ts";
import type { Usage } from "../../core/status.ts";
import { toCountText, toOneLine } from "../../core/text.ts";
import { toDurationText } from "./durations.ts";
import type { JsonEvent } from "./output.ts";
import { toTable } from "./table.ts";

const MAX_DENIAL_LINES = 10;
const MAX_DENIAL_CHARACTERS = 200;

/** What a turn came to. */
export interface TurnSummary {
  sessionId: string;
  turn: Turn;
  /** Those that the turn started, with their reports. */
  delegations: Delegation[];
  nowMs: number;
}

/** The last line of `--json`. */
export function toResultEvent({ sessionId, turn, delegations, nowMs }: TurnSummary): JsonEvent {
  return {
    type: "result",
    session: sessionId,
    status: turn.status,
    answer: turn.answer,
    ...(turn.error === undefined ? {} : { error: turn.error }),
    delegations: delegations.map((delegation) => ({
      id: delegation.id,
      agent: delegation.agent,
      description: delegation.description,
      status: delegation.status,
      report: delegation.report,
      turns: delegation.turns,
      toolCalls: delegation.toolCalls,
      usage: delegation.usage,
      elapsedSeconds: toElapsedSeconds(delegation, nowMs),
      model: delegation.model,
      attempts: delegation.attempts,
      denials: delegation.denials,
      ...(delegation.error === undefined ? {} : { error: delegation.error }),
    })),
    turn: turn.number,
    turns: turn.turns,
    toolCalls: turn.toolCalls,
    usage: turn.usage,
    elapsedSeconds: toTurnSeconds(turn, nowMs),
  };
}

/** What a person reads at the end: how it went, and a table of the delegates. */
export function toSummaryText({ turn, delegations, nowMs }: TurnSummary): string {
  const tokens = toTokens(turn.usage);
  const why = turn.error === undefined ? "" : ` (${turn.error.code}: ${turn.error.message})`;
  const head = `${turn.status}${why} after ${toDurationText(toTurnSeconds(turn, nowMs))}: ${toCountText(turn.turns, "turn")}, ${toCountText(turn.toolCalls, "tool call")}, ${toCountText(tokens, "token")}`;
  if (delegations.length === 0) return head;
  return [head, "", toDelegationTable(delegations, nowMs), ...toDenialLines(delegations)].join("\n");
}

/** Calls that were not allowed, by delegate. */
function toDenialLines(delegations: readonly Delegation[]): string[] {
  const lines = delegations.flatMap(({ id, agent, denials }) =>
    denials.map(
      ({ tool, target, reason }) =>
        `${id} ${agent}: ${tool} ${toOneLine(target, MAX_DENIAL_CHARACTERS)} was not allowed: ${toOneLine(reason, MAX_DENIAL_CHARACTERS)}`,
    ),
  );
  if (lines.length <= MAX_DENIAL_LINES) return lines.length === 0 ? [] : ["", ...lines];
  return [
    "",
    ...lines.slice(0, MAX_DENIAL_LINES),
    `and ${lines.length - MAX_DENIAL_LINES} more calls that were not allowed`,
  ];
}

export function toDelegationTable(delegations: readonly Delegation[], nowMs: number): string {
  return toTable([
    ["delegate", "agent", "status", "time", "turns", "tools", "tokens", "for"],
    ...delegations.map((delegation) => [
      delegation.id,
      delegation.agent,
      delegation.error === undefined ? delegation.status : `${delegation.status} (${delegation.error.code})`,
      toDurationText(toElapsedSeconds(delegation, nowMs)),
      String(delegation.turns),
      String(delegation.toolCalls),
      String(toTokens(delegation.usage)),
      delegation.description,
    ]),
  ]);
}

export function toTokens(usage: Usage): number {
  return usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
}

function toTurnSeconds(turn: Turn, nowMs: number): number {
  return Math.max(0, (turn.endedAtMs ?? nowMs) - turn.startedAtMs) / 1000;
}
