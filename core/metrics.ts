import { type FailureCode, failureCodes } from "./status.ts";

/** A metric of ours as the SDK's meter is told of it. Exporters add the unit and `total` to the name. */
export interface MetricDefinition {
  name: string;
  unit: string;
  description: string;
}

/** What is measured beside the SDK's own metrics. No name begins with another one: buckets are told apart by how a name begins. */
export const metrics = {
  running: {
    name: "subagents_agents_running",
    unit: "",
    description: "Agent runs that a worker carries at this moment",
  },
  delegationsEnded: {
    name: "subagents_delegations_ended",
    unit: "",
    description: "Delegations that have settled",
  },
  turnsEnded: {
    name: "subagents_turns_ended",
    unit: "",
    description: "Turns of main agents that have ended",
  },
  workerLosses: {
    name: "subagents_worker_losses",
    unit: "",
    description: "Attempts whose worker was lost, seen by the attempt that follows",
  },
  eventGap: {
    name: "subagents_event_gap",
    unit: "seconds",
    description: "Silence between two AgentEvents while the model is awaited, from 50 ms on",
  },
  stopLatency: {
    name: "subagents_stop_latency",
    unit: "seconds",
    description: "From the request to stop a delegate to its settlement",
  },
  resumeLatency: {
    name: "subagents_resume_latency",
    unit: "seconds",
    description: "From the last word of an attempt that was cut off to the first AgentEvent of the next",
  },
  permissionWait: {
    name: "subagents_permission_wait",
    unit: "seconds",
    description: "How long a question for permission was open",
  },
} as const satisfies Record<string, MetricDefinition>;

/** Upper bounds of each histogram's buckets, in seconds, in the form that the SDK's exporters take. Each covers the limit that it is read against. */
export const histogramBuckets: Record<string, number[]> = {
  // The idle window is 300 s; a definition's may be as long as its ceiling.
  [metrics.eventGap.name]: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 180, 240, 300, 900, 3600, 21_600],
  // A stop takes effect within 5 s and is answered within 10 s.
  [metrics.stopLatency.name]: [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 30, 60, 300],
  // A restart resumes within seconds, a lost host within 300 s.
  [metrics.resumeLatency.name]: [0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 30, 60, 120, 200, 300, 330, 600, 3600],
  // A person's time.
  [metrics.permissionWait.name]: [1, 2.5, 5, 10, 30, 60, 300, 900, 1800, 3600, 7200, 21_600],
};

/** Names that ship with this package; any other agent counts as `custom`, so that the number of series stays bounded. */
const builtinAgents = ["explorer", "code-reviewer", "test-runner", "fixer"];

/** Every label that a delegate's agent may have. */
export const agentLabels = [...builtinAgents, "custom"];

/** An agent's name as a metric's label. */
export function toAgentLabel(agent: string): string {
  return agent === "main" || builtinAgents.includes(agent) ? agent : "custom";
}

/** Every series of endings has a code, so that sums over it leave nothing out. */
export function toCodeLabel(code: FailureCode | undefined): string {
  return code ?? "none";
}

const truncations: readonly FailureCode[] = ["TURN_LIMIT", "OUTPUT_LIMIT"];
const timeouts: readonly FailureCode[] = ["IDLE_TIMEOUT", "PROVIDER_RATE_LIMITED", "DURATION_TIMEOUT"];
const notFailures: readonly FailureCode[] = [...truncations, "IDLE_TIMEOUT", "DURATION_TIMEOUT"];
const failures = failureCodes.filter((code) => !notFailures.includes(code));

const toEndings = (status: string, codes: readonly FailureCode[]) =>
  codes.map((code) => ({ status, code: toCodeLabel(code) }));
const toEnding = (status: string) => ({ status, code: toCodeLabel(undefined) });

/** Every way in which a delegation ends, as labels. */
export const delegationEndings = [
  toEnding("completed"),
  ...toEndings("truncated", truncations),
  ...toEndings("timed_out", timeouts),
  toEnding("stopped"),
  toEnding("aborted"),
  ...toEndings("failed", failures),
];

/** Every way in which a turn ends, as labels: an answer that was cut is a failure here. */
export const turnEndings = [
  toEnding("completed"),
  ...toEndings("timed_out", timeouts),
  toEnding("aborted"),
  ...toEndings("failed", [...failures, "OUTPUT_LIMIT"]),
];
