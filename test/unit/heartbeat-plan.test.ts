// Tier: no server.
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type RunPhase, runPhases } from "../../core/agent-run.ts";
import { planHeartbeats } from "../../core/heartbeat-plan.ts";
import { MAX_HEARTBEAT_THROTTLE_MS, MAX_OVERRIDE_SECONDS, MIN_OVERRIDE_SECONDS } from "../../core/limits.ts";

const silent: RunPhase[] = ["model", "backoff"];
const busy = runPhases.filter((phase) => !silent.includes(phase));

describe("heartbeats at the default window of 300 s", () => {
  test.each(silent)("in phase %s come from events alone, with one behind the last", (phase) => {
    expect(planHeartbeats(phase, 300, "enforce")).toEqual({ timerMs: undefined, trailingMs: 4000 });
  });

  test.each(busy)("in phase %s come every 10 s", (phase) => {
    expect(planHeartbeats(phase, 300, "enforce")).toEqual({ timerMs: 10_000, trailingMs: 4000 });
  });

  test("come every minute in silence too where the watchdog only reports", () => {
    expect(planHeartbeats("model", 300, "report").timerMs).toBe(60_000);
  });
});

test("at a window of 21,600 s silence beats every minute: the server waits for 300 s at most", () => {
  expect(planHeartbeats("model", MAX_OVERRIDE_SECONDS, "enforce")).toEqual({
    timerMs: 60_000,
    trailingMs: 4000,
  });
  expect(planHeartbeats("tool", MAX_OVERRIDE_SECONDS, "enforce").timerMs).toBe(10_000);
});

test("at a window of 10 s busy phases beat every third of it", () => {
  expect(planHeartbeats("tool", MIN_OVERRIDE_SECONDS, "enforce")).toEqual({
    timerMs: 10_000 / 3,
    trailingMs: 2500,
  });
});

test("at any window no timer is later than a third of the server's, and the trailing beat puts that one behind the local one", () => {
  const seconds = fc.integer({ min: MIN_OVERRIDE_SECONDS, max: MAX_OVERRIDE_SECONDS });
  fc.assert(
    fc.property(seconds, fc.constantFrom(...runPhases), (idleSeconds, phase) => {
      const { timerMs, trailingMs } = planHeartbeats(phase, idleSeconds, "enforce");
      const timeoutMs = Math.min(idleSeconds, 300) * 1000;
      if (timerMs !== undefined) expect(timerMs).toBeLessThanOrEqual(timeoutMs / 3);
      if (timerMs === undefined) expect(timeoutMs).toBe(idleSeconds * 1000);
      // Later than a throttled beat could arrive, so that it is not swallowed by the throttle.
      expect(trailingMs).toBeGreaterThan(MAX_HEARTBEAT_THROTTLE_MS);
      expect(trailingMs).toBeLessThan(timeoutMs);
    }),
  );
});
