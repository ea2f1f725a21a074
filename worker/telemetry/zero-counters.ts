import type { MetricMeter } from "@temporalio/common";
import { workflowNames } from "../../core/messages.ts";
import { agentLabels, delegationEndings, metrics, turnEndings } from "../../core/metrics.ts";

/**
 * Let a worker's counters of endings begin at zero, each under the labels that the session's workflow will count it by: a counter that appears with its
 * first event has never risen for whoever reads it, and the rarest endings matter most.
 */
export function beginAtZero(
  meter: MetricMeter,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
): void {
  const ofSessions = meter.withTags({ namespace, taskQueue, workflowType: workflowNames.session });
  const { delegationsEnded, turnsEnded } = metrics;
  const delegations = ofSessions.createCounter(
    delegationsEnded.name,
    delegationsEnded.unit,
    delegationsEnded.description,
  );
  for (const agent of agentLabels)
    for (const { status, code } of delegationEndings) delegations.add(0, { agent, status, code });
  const turns = ofSessions.createCounter(turnsEnded.name, turnsEnded.unit, turnsEnded.description);
  for (const { status, code } of turnEndings) turns.add(0, { status, code });
}
