import type { AgentRunDetails } from "../../core/agent-run.ts";

export const usage = { input: 10_000, output: 2345, cacheRead: 0, cacheWrite: 0, cost: 0.0123 };

/** What a running delegate's heartbeat tells. */
export function toDetails(change: Partial<AgentRunDetails> = {}): AgentRunDetails {
  return {
    attempt: 1,
    phase: "model",
    turns: 3,
    toolCalls: 4,
    startedAtMs: 1000,
    lastEventAtMs: 58_000,
    usage,
    partialReport: "I am\nsaying this",
    denials: [],
    journalLines: 0,
    losses: 0,
    turnsAtStart: 0,
    handedBack: false,
    worker: "1@there",
    ...change,
  };
}
