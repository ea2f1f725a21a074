// Tier: no server.
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { IdleClock } from "../../core/idle-clock.ts";
import { IDLE_TIMEOUT_SECONDS, MAX_OVERRIDE_SECONDS, TASK_WAIT_DEFAULT_SECONDS } from "../../core/limits.ts";

type Step = { kind: "event" | "hold" | "release"; afterMs: number };
const step = fc.record({
  kind: fc.constantFrom<Step["kind"]>("event", "hold", "release"),
  afterMs: fc.nat({ max: 100_000 }),
});

describe("the idle clock", () => {
  test.each([
    ["the default window", IDLE_TIMEOUT_SECONDS, 300],
    ["the longest window", MAX_OVERRIDE_SECONDS, 21_600],
  ])("holds %s to the millisecond", (_, seconds, expected) => {
    expect(seconds).toBe(expected);
    const clock = new IdleClock(seconds * 1000, 5);
    expect(clock.remainingMs(5 + seconds * 1000 - 1)).toBe(1);
    expect(clock.remainingMs(5 + seconds * 1000)).toBe(0);
    clock.rearm(5 + seconds * 1000 - 1);
    expect(clock.remainingMs(5 + seconds * 1000)).toBe(seconds * 1000 - 1);
  });

  test("hangs settle inside one wait: the default window is below TaskWait's default", () => {
    expect(IDLE_TIMEOUT_SECONDS).toBeLessThan(TASK_WAIT_DEFAULT_SECONDS);
  });

  test("one event every window less a second never expires it, for six hours", () => {
    const clock = new IdleClock(300_000, 0);
    for (let nowMs = 299_000; nowMs < 21_600_000; nowMs += 299_000) {
      expect(clock.remainingMs(nowMs)).toBe(1000);
      clock.rearm(nowMs);
    }
  });

  test("pauses while one of several tools runs, and starts in full after the last", () => {
    const clock = new IdleClock(3000, 0);
    clock.hold();
    clock.hold();
    clock.release(10_000);
    expect(clock.remainingMs(60_000)).toBeUndefined();
    clock.release(70_000);
    expect(clock.remainingMs(70_000)).toBe(3000);
  });

  test("is what a plain account of holds and of the last sign of life says", () => {
    fc.assert(
      fc.property(fc.array(step), fc.nat({ max: 400_000 }), (steps, restMs) => {
        const clock = new IdleClock(300_000, 0);
        let nowMs = 0;
        let holds = 0;
        let lastMs = 0;
        for (const { kind, afterMs } of steps) {
          nowMs += afterMs;
          if (kind === "hold") {
            holds += 1;
            clock.hold();
          } else if (kind === "event") {
            lastMs = nowMs;
            clock.rearm(nowMs);
          } else {
            if (holds > 0) lastMs = nowMs;
            holds = Math.max(0, holds - 1);
            clock.release(nowMs);
          }
        }
        nowMs += restMs;
        expect(clock.isPaused).toBe(holds > 0);
        expect(clock.remainingMs(nowMs)).toBe(holds > 0 ? undefined : Math.max(0, lastMs + 300_000 - nowMs));
        expect(clock.silenceMs(nowMs)).toBe(nowMs - lastMs);
      }),
      { numRuns: 500 },
    );
  });
});
