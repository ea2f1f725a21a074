import type { RunPhase } from "./agent-run.ts";
import { LONG_WINDOW_HEARTBEAT_MS, MAX_HEARTBEAT_TIMEOUT_SECONDS, PHASE_HEARTBEAT_MS } from "./limits.ts";

export interface HeartbeatPlan {
  /** Beat by timer this often in the present phase; undefined: events alone beat. */
  timerMs: number | undefined;
  /** Beat once more this long after the last event, so that the server's timer stays behind the local one. */
  trailingMs: number;
}

/**
 * Plan the heartbeats of a phase. While the model is being waited for nothing but events beats, so that silence alone expires the server's
 * timer; in every other phase a timer does. With a window longer than the heartbeat timeout, or a watchdog that only reports, the local timer
 * alone judges and the main thread beats every minute.
 */
export function planHeartbeats(
  phase: RunPhase,
  idleSeconds: number,
  watchdog: "enforce" | "report",
): HeartbeatPlan {
  const timeoutMs = Math.min(idleSeconds, MAX_HEARTBEAT_TIMEOUT_SECONDS) * 1000;
  const trailingMs = Math.min(4000, timeoutMs / 4);
  const isSilence = phase === "model" || phase === "backoff";
  if (!isSilence) return { timerMs: Math.min(PHASE_HEARTBEAT_MS, timeoutMs / 3), trailingMs };
  const isLocalAlone = idleSeconds > MAX_HEARTBEAT_TIMEOUT_SECONDS || watchdog === "report";
  return {
    timerMs: isLocalAlone ? Math.min(LONG_WINDOW_HEARTBEAT_MS, timeoutMs / 3) : undefined,
    trailingMs,
  };
}
