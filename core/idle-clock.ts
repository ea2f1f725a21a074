/**
 * The arithmetic of silence. Every event re-arms the window, whatever its kind; it pauses while at least one tool runs or a question is open,
 * and starts again in full when none is left. Times are milliseconds of one monotonic clock.
 */
export class IdleClock {
  readonly windowMs: number;
  #armedAtMs: number;
  #holds = 0;

  constructor(windowMs: number, nowMs: number) {
    this.windowMs = windowMs;
    this.#armedAtMs = nowMs;
  }

  /** Start the window anew: something was heard of the agent. */
  rearm(nowMs: number): void {
    this.#armedAtMs = nowMs;
  }

  /** Pause the window: a tool started or a question was opened. Holds are counted. */
  hold(): void {
    this.#holds += 1;
  }

  /** Undo one hold. The window starts in full when the last one is gone. A release without a hold changes nothing. */
  release(nowMs: number): void {
    if (this.#holds === 0) return;
    this.#holds -= 1;
    this.#armedAtMs = nowMs;
  }

  get isPaused(): boolean {
    return this.#holds > 0;
  }

  /** How much of the window is left; undefined while it is paused; never negative. */
  remainingMs(nowMs: number): number | undefined {
    if (this.isPaused) return undefined;
    return Math.max(0, this.#armedAtMs + this.windowMs - nowMs);
  }

  silenceMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#armedAtMs);
  }
}
