import type { AgentRunInput, AgentRunOutcome } from "../../core/agent-run.ts";
import { MAX_ANSWER_CHARACTERS, MAX_REPORT_CHARACTERS } from "../../core/limits.ts";
import type { FailureCode } from "../../core/status.ts";
import { cutAt, toWellFormed } from "../../core/text.ts";
import { toSecretHider } from "../models/redact.ts";
import type { LoopEnding } from "../thread/protocol.ts";
import { boundReport, type RunMonitor } from "./run-monitor.ts";

/** What ended an attempt. The first cause wins; what comes later changes nothing. */
export type RunEnd =
  | { kind: "loop"; ending: LoopEnding }
  | { kind: "idle"; silenceMs: number }
  | { kind: "ceiling" }
  | { kind: "cancelled" }
  /** The worker shuts down, or an operator paused or reset the activity: another attempt goes on. */
  | { kind: "handed-back"; failure: unknown }
  /** Another attempt has taken over: nothing more may be written. */
  | { kind: "replaced" }
  | { kind: "journal"; message: string }
  | { kind: "crash"; message: string };

/** The outcome of a run that could not do its work, with what earlier attempts have left. */
export function toFailure(
  run: AgentRunInput,
  monitor: RunMonitor,
  attempt: number,
  code: FailureCode,
  message: string,
): AgentRunOutcome {
  return build(run, monitor, attempt, { status: "failed", code, message });
}

type Ending = { status: AgentRunOutcome["status"]; text?: string; code?: FailureCode; message?: string };

/** Turn the end of an attempt into the run's outcome: an honest status, the report or what there is of it, and the reason. */
export function toOutcome(
  run: AgentRunInput,
  end: RunEnd,
  monitor: RunMonitor,
  attempt: number,
): AgentRunOutcome {
  return build(run, monitor, attempt, toEnding(run, end, monitor));
}

function build(run: AgentRunInput, monitor: RunMonitor, attempt: number, ending: Ending): AgentRunOutcome {
  const limit = run.role === "main" ? MAX_ANSWER_CHARACTERS : MAX_REPORT_CHARACTERS;
  const text = ending.text === undefined || ending.text === "" ? monitor.partialText : ending.text;
  const { code, message } = ending;
  return {
    status: ending.status,
    ...(code === undefined ? {} : { error: { code, message: toSafeMessage(message ?? "") } }),
    report: boundReport(text, limit),
    turns: monitor.turns,
    toolCalls: monitor.toolCalls,
    usage: monitor.usage,
    attempts: attempt,
    denials: monitor.denials,
    model: monitor.model,
  };
}

/**
 * An error travels further than what the agent says: into histories, lists and logs. What a provider said has lost what looks like a
 * key before; anything else may name files and commands that look like one.
 */
function toSafeMessage(message: string): string {
  return cutAt(toWellFormed(toSecretHider(process.env)(message)), 2000);
}

function toEnding(run: AgentRunInput, end: RunEnd, monitor: RunMonitor): Ending {
  switch (end.kind) {
    case "loop":
      return toLoopEnding(run, end.ending);
    case "idle":
      return {
        status: "timed_out",
        code: "IDLE_TIMEOUT",
        message: describeSilence(run, end.silenceMs, monitor),
      };
    case "ceiling":
      return { status: "timed_out", code: "DURATION_TIMEOUT", message: describeCeiling(run, monitor) };
    case "cancelled":
      return { status: "cancelled" };
    case "journal":
      return { status: "failed", code: "JOURNAL_UNAVAILABLE", message: end.message };
    case "crash":
      return { status: "failed", code: "INTERNAL", message: end.message };
    case "handed-back":
    case "replaced":
      throw new Error(`an attempt that was ${end.kind} has no outcome`);
  }
}

function toLoopEnding(run: AgentRunInput, ending: LoopEnding): Ending {
  switch (ending.kind) {
    case "done":
      return { status: "completed", text: ending.text };
    case "turn-limit":
      return {
        status: "truncated",
        text: ending.text,
        code: "TURN_LIMIT",
        message: `it used up its ${run.limits.maxTurns} turns`,
      };
    case "output-limit":
      return {
        status: "truncated",
        text: ending.text,
        code: "OUTPUT_LIMIT",
        message: "the provider's output limit cut its last message",
      };
    case "no-report":
      return {
        status: "failed",
        code: "NO_REPORT",
        message: "its last message has no text; what it said before is its partial report",
      };
    case "provider":
      return {
        status: "failed",
        code: ending.failure.code,
        message: describeProvider(ending.failure.message, ending.tries),
      };
    case "rate-limited": {
      const asked = Math.ceil(ending.waitMs / 1000);
      const message = `the provider asks for a wait of ${asked} s, which does not fit into the idle window of ${run.limits.idleSeconds} s: ${ending.failure.message}`;
      return { status: "timed_out", code: "PROVIDER_RATE_LIMITED", message };
    }
    case "aborted":
      return { status: "cancelled" };
  }
}

function describeProvider(message: string, tries: number): string {
  return tries > 1 ? `${message} (after ${tries} requests)` : message;
}

function describeSilence(run: AgentRunInput, silenceMs: number, monitor: RunMonitor): string {
  const { lastEventAtMs } = monitor.toDetails();
  return `no AgentEvent for ${(silenceMs / 1000).toFixed(1)} s while it waited for the model in turn ${monitor.turns + 1}; the idle window is ${run.limits.idleSeconds} s; the last event came at ${new Date(lastEventAtMs).toISOString()}`;
}

function describeCeiling(run: AgentRunInput, monitor: RunMonitor): string {
  const tool = monitor.oldestTool;
  const doing =
    tool === undefined
      ? ""
      : `; ${tool.name} ${tool.target} had been running for ${Math.round((Date.now() - tool.sinceMs) / 1000)} s`;
  return `the ceiling of ${run.limits.maxDurationSeconds} s was reached in turn ${monitor.turns + 1}${doing}`;
}
