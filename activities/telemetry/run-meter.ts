import type { MetricHistogram, MetricMeter } from "@temporalio/common";
import type { AgentRunDetails, AgentRunInput, RunPhase } from "../../core/agent-run.ts";
import { type MetricDefinition, metrics, toAgentLabel } from "../../core/metrics.ts";

/** Shorter gaps are one burst: a stream of tokens is measured by its silences, and costs a look at the clock. */
const LEAST_GAP_MS = 50;

/** The numbers of one attempt of a run, in the SDK's meter, beside the SDK's own. */
export class RunMeter {
  readonly #meter: MetricMeter;
  readonly #role: AgentRunInput["role"];
  readonly #labels: { role: string; agent: string };
  readonly #gaps: MetricHistogram;
  readonly #questions = new Map<string, number>();
  #previous: { atMs: number; cause: "handed_back" | "lost" } | undefined;
  #heardAtMs = performance.now();
  #hasEnded = false;

  constructor(meter: MetricMeter, run: Pick<AgentRunInput, "role" | "agent">) {
    this.#meter = meter;
    this.#role = run.role;
    this.#labels = { role: run.role, agent: toAgentLabel(run.agent) };
    this.#gaps = this.#histogram(metrics.eventGap);
    this.#countRunning(1);
  }

  /** Look at the attempts before: what was lost, and when something was last heard of them. */
  follow(attempt: number, previous: AgentRunDetails | undefined): void {
    const isHandedBack = previous?.handedBack ?? false;
    // Attempts that died before their first heartbeat are told by the gap in the numbers.
    const silent = Math.max(0, attempt - 1 - (previous?.attempt ?? 0));
    const losses = silent + (previous === undefined || isHandedBack ? 0 : 1);
    const { name, unit, description } = metrics.workerLosses;
    // Nothing is counted too: a series that begins with its first loss would show no rise.
    this.#meter.createCounter(name, unit, description).add(losses, { role: this.#role });
    if (attempt <= 1 || previous === undefined) return;
    this.#previous = {
      atMs: previous.toldAtMs ?? previous.lastEventAtMs,
      cause: losses > 0 ? "lost" : "handed_back",
    };
  }

  /** @param phase what the run was doing until this event */
  onEvent(phase: RunPhase): void {
    const nowMs = performance.now();
    const gapMs = nowMs - this.#heardAtMs;
    this.#heardAtMs = nowMs;
    if (gapMs >= LEAST_GAP_MS && isAwaitingModel(phase)) this.#recordGap(gapMs);
    if (this.#previous !== undefined) this.#recordResume(this.#previous);
  }

  /** The window starts anew where a question was answered. */
  openQuestion(callId: string): void {
    this.#questions.set(callId, performance.now());
  }

  endPermit(callId: string, isAllowed: boolean): void {
    const openedAtMs = this.#questions.get(callId);
    if (openedAtMs === undefined) return;
    this.#questions.delete(callId);
    this.#heardAtMs = performance.now();
    this.#histogram(metrics.permissionWait).record((this.#heardAtMs - openedAtMs) / 1000, {
      role: this.#role,
      verdict: isAllowed ? "allowed" : "denied",
    });
  }

  /** A silence that was not ended by an event but ended the run. */
  onIdle(silenceMs: number): void {
    this.#recordGap(silenceMs);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#countRunning(-1);
  }

  #recordGap(gapMs: number): void {
    this.#gaps.record(gapMs / 1000, { role: this.#role });
  }

  #recordResume({ atMs, cause }: { atMs: number; cause: string }): void {
    this.#previous = undefined;
    // Clocks of two hosts may differ a little.
    const seconds = Math.max(0, Date.now() - atMs) / 1000;
    this.#histogram(metrics.resumeLatency).record(seconds, { role: this.#role, cause });
  }

  #countRunning(change: 1 | -1): void {
    const { name, unit, description } = metrics.running;
    this.#meter.createUpDownCounter?.(name, unit, description).add(change, this.#labels);
  }

  #histogram({ name, unit, description }: MetricDefinition): MetricHistogram {
    return this.#meter.createHistogram(name, "float", unit, description);
  }
}

function isAwaitingModel(phase: RunPhase): boolean {
  return phase === "model" || phase === "backoff";
}
