import { metricMeter } from "@temporalio/workflow";
import type { Settlement } from "../core/delegation.ts";
import { metrics, toAgentLabel, toCodeLabel } from "../core/metrics.ts";
import type { Turn } from "../core/session.ts";

/** Count how a delegation ended, where that is decided: endings that no worker could tell of count too. A replay counts nothing. */
export function countDelegation(agent: string, { status, error }: Settlement): void {
  const { name, unit, description } = metrics.delegationsEnded;
  const labels = { agent: toAgentLabel(agent), status, code: toCodeLabel(error?.code) };
  metricMeter.createCounter(name, unit, description).add(1, labels);
}

/** Count how a turn ended. */
export function countTurn({ status, error }: Turn): void {
  const { name, unit, description } = metrics.turnsEnded;
  metricMeter.createCounter(name, unit, description).add(1, { status, code: toCodeLabel(error?.code) });
}

/** Note how long a delegate took to end after it was asked to. One that ended otherwise meanwhile was not stopped. */
export function measureStop({ status }: Settlement, requestedAtMs: number | undefined): void {
  if (requestedAtMs === undefined || (status !== "stopped" && status !== "aborted")) return;
  const { name, unit, description } = metrics.stopLatency;
  const seconds = (Date.now() - requestedAtMs) / 1000;
  metricMeter.createHistogram(name, "float", unit, description).record(seconds, { status });
}
