import type { AgentRunDetails } from "./agent-run.ts";

/**
 * Count the workers lost in a row, with no turn finished in between, as an attempt begins.
 *
 * A worker that handed its run back is no loss. Attempts that died before their first heartbeat left no details of their own and are told by the
 * gap in the numbers.
 *
 * @param attempt number of the attempt that begins, from 1
 * @param previous details of the last attempt that could speak, as the server kept them
 * @param turns turns finished by now, as the journal tells
 */
export function countLosses(attempt: number, previous: AgentRunDetails | undefined, turns: number): number {
  if (attempt <= 1) return 0;
  if (previous === undefined) return attempt - 1;
  const isProgress = turns > previous.turnsAtStart;
  const before = isProgress ? 0 : previous.losses;
  const own = previous.handedBack ? 0 : 1;
  const silent = Math.max(0, attempt - 1 - previous.attempt);
  return before + own + silent;
}
