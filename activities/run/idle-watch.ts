import { IdleClock } from "../../core/idle-clock.ts";

/** A timer that fires this late tells of a suspended host or a stopped process, not of a silent agent. */
const JUMP_MS = 1_000;
const GRACE_MS = 5_000;

/** Watches one run's silence on the main thread and speaks up exactly at the end of the window. */
export class IdleWatch {
  readonly #clock: IdleClock;
  readonly #onIdle: (silenceMs: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = 0;
  #isOver = false;

  /** @param onIdle called once, with the length of the silence */
  constructor(windowMs: number, onIdle: (silenceMs: number) => void) {
    this.#clock = new IdleClock(windowMs, performance.now());
    this.#onIdle = onIdle;
    this.#schedule();
  }

  rearm(): void {
    this.#clock.rearm(performance.now());
    this.#schedule();
  }

  hold(): void {
    this.#clock.hold();
  }

  release(): void {
    this.#clock.release(performance.now());
    this.#schedule();
  }

  /** What is left of the window; undefined while it is paused. */
  get remainingMs(): number | undefined {
    return this.#clock.remainingMs(performance.now());
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  /** One timer serves all events: it is set anew only when it fires too early, not at every token. */
  #schedule(): void {
    if (this.#isOver || this.#timer !== undefined) return;
    const remaining = this.#clock.remainingMs(performance.now());
    if (remaining === undefined) return;
    this.#set(remaining);
  }

  #set(delayMs: number): void {
    this.#dueAtMs = performance.now() + delayMs;
    this.#timer = setTimeout(() => this.#fire(), Math.ceil(delayMs));
  }

  #fire(): void {
    this.#timer = undefined;
    if (this.#remaining() !== 0) {
      this.#schedule();
      return;
    }
    const isLate = performance.now() - this.#dueAtMs > JUMP_MS;
    if (isLate) {
      this.#timer = setTimeout(() => this.#check(), Math.min(GRACE_MS, this.#clock.windowMs / 3));
      return;
    }
    // An event may have arrived in this turn of the event loop already.
    setImmediate(() => this.#check());
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#isOver) return;
    if (this.#remaining() !== 0) {
      this.#schedule();
      return;
    }
    this.#isOver = true;
    this.#onIdle(this.#clock.silenceMs(performance.now()));
  }

  #remaining(): number | undefined {
    return this.#clock.remainingMs(performance.now());
  }
}
