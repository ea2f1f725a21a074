import type { AgentRunDetails, AgentRunInput, RunPhase } from "../../core/agent-run.ts";
import { planHeartbeats } from "../../core/heartbeat-plan.ts";
import { HEARTBEAT_BURST_MS } from "../../core/limits.ts";

export interface HeartbeatSource {
  readonly phase: RunPhase;
  toDetails(): AgentRunDetails;
}

/** Beats for one run: on every event, bursts sharing a beat, and by timer in every phase that is not the model's silence. */
export class Heartbeater {
  readonly #source: HeartbeatSource;
  readonly #limits: AgentRunInput["limits"];
  readonly #watchdog: AgentRunInput["watchdog"];
  readonly #beat: (details: AgentRunDetails) => void;
  #burst: NodeJS.Timeout | undefined;
  #trailing: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    run: Pick<AgentRunInput, "limits" | "watchdog">,
    source: HeartbeatSource,
    beat: (details: AgentRunDetails) => void,
  ) {
    this.#limits = run.limits;
    this.#watchdog = run.watchdog;
    this.#source = source;
    this.#beat = beat;
    this.beatNow();
  }

  /** Beat for an event, together with those that follow within 50 ms. */
  onEvent(): void {
    this.#burst ??= setTimeout(() => this.beatNow(), HEARTBEAT_BURST_MS);
  }

  /** Beat at once, and once more a few seconds later, so that the server's timer stays behind the local one. */
  beatNow(): void {
    clearTimeout(this.#burst);
    this.#burst = undefined;
    this.#beat(this.#source.toDetails());
    const { timerMs, trailingMs } = this.#plan();
    clearTimeout(this.#trailing);
    clearTimeout(this.#timer);
    this.#trailing = setTimeout(() => this.#beat(this.#source.toDetails()), trailingMs);
    if (timerMs !== undefined) this.#timer = setTimeout(() => this.beatNow(), timerMs);
  }

  stop(): void {
    clearTimeout(this.#burst);
    clearTimeout(this.#trailing);
    clearTimeout(this.#timer);
  }

  #plan() {
    return planHeartbeats(this.#source.phase, this.#limits.idleSeconds, this.#watchdog);
  }
}
