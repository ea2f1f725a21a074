import { z } from "zod";

/** How a delegation stands. `running` is the only status that is not final. */
export const delegationStatuses = [
  "running",
  "completed",
  "truncated",
  "timed_out",
  "stopped",
  "aborted",
  "failed",
] as const;
export type DelegationStatus = (typeof delegationStatuses)[number];
export type FinalStatus = Exclude<DelegationStatus, "running">;

/** Why a run did not end as completed; the wire names of section "Endings" in docs/architecture.md. */
export const failureCodes = [
  "TURN_LIMIT",
  "OUTPUT_LIMIT",
  "IDLE_TIMEOUT",
  "DURATION_TIMEOUT",
  "NO_REPORT",
  "PROVIDER_RATE_LIMITED",
  "PROVIDER_OVERLOADED",
  "PROVIDER_UNAVAILABLE",
  "PROVIDER_AUTH",
  "PROVIDER_BAD_REQUEST",
  "PROVIDER_CONTEXT_OVERFLOW",
  "PROVIDER_REFUSED",
  "PROVIDER_NOT_FOUND",
  "WORKER_LOST",
  "TERMINATED",
  "JOURNAL_UNAVAILABLE",
  "START_FAILED",
  "INTERNAL",
] as const;
export type FailureCode = (typeof failureCodes)[number];

export const runErrorSchema = z.object({ code: z.enum(failureCodes), message: z.string() });
/** What kept a run from completing: a code to branch on and a sentence to read. */
export type RunError = z.infer<typeof runErrorSchema>;

export const usageSchema = z.object({
  /** Tokens as the provider counted them. */
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  /** US dollars by the provider's list prices; 0 where none are known. */
  cost: z.number(),
});
export type Usage = z.infer<typeof usageSchema>;

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** Add two usages field by field. */
export function addUsage(left: Usage, right: Usage): Usage {
  return {
    input: left.input + right.input,
    output: left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite: left.cacheWrite + right.cacheWrite,
    cost: left.cost + right.cost,
  };
}
