import { Context } from "@temporalio/activity";
import type { AgentRunInput, AgentRunOutcome, RunPhase } from "../../core/agent-run.ts";
import type { RunEnd } from "../run/run-outcome.ts";
import type { ThreadEvent } from "../thread/protocol.ts";
import { RunMeter } from "./run-meter.ts";
import { RunTrace, type TraceEnding } from "./run-trace.ts";

/** What an attempt tells of itself to telemetry: its spans and its numbers. Never decides anything, and never throws for a reader's sake. */
export class RunTelemetry {
  readonly trace: RunTrace;
  readonly meter: RunMeter;
  #ending: TraceEnding | undefined;

  constructor(run: AgentRunInput) {
    const { info, metricMeter } = Context.current();
    this.trace = new RunTrace(run, {
      attempt: info.attempt,
      workflowId: info.workflowExecution?.workflowId ?? "",
      workflowRunId: info.workflowExecution?.runId ?? "",
      activityId: info.activityId,
    });
    this.meter = new RunMeter(metricMeter, run);
  }

  onEvent(event: ThreadEvent, phase: RunPhase): void {
    this.meter.onEvent(phase);
    switch (event.type) {
      case "message_update":
        this.trace.hear();
        break;
      case "tool_execution_start":
        this.trace.startTool(event.callId, event.tool);
        break;
      case "tool_execution_end":
        this.trace.endTool(event.callId, event.result.isError);
        break;
      default:
        break;
    }
  }

  openQuestion(callId: string, tool: string): void {
    this.meter.openQuestion(callId);
    this.trace.openQuestion(callId, tool);
  }

  endPermit(callId: string, isAllowed: boolean): void {
    this.meter.endPermit(callId, isAllowed);
    this.trace.endPermit(callId, isAllowed);
  }

  /** Take the first cause that ends the attempt; what is told after that changes nothing. */
  interrupt(end: RunEnd, outcome: AgentRunOutcome | undefined): void {
    if (end.kind === "idle") this.meter.onIdle(end.silenceMs);
    this.#ending = outcome === undefined ? { word: toWord(end.kind), isError: false } : toEnding(outcome);
    this.trace.interrupt({ ...this.#ending, word: outcome?.error?.code ?? this.#ending.word });
  }

  /** Close the attempt, by its outcome if it has one. */
  end(outcome: AgentRunOutcome | undefined, counts: Pick<AgentRunOutcome, "turns" | "toolCalls">): void {
    const ending = outcome === undefined ? this.#ending : toEnding(outcome);
    this.trace.end(ending ?? { word: "failed", isError: true }, outcome ?? counts, toCode(outcome, ending));
    this.meter.end();
  }
}

/** An attempt without an outcome that nobody took over met a bug of ours. */
function toCode(outcome: AgentRunOutcome | undefined, ending: TraceEnding | undefined): string | undefined {
  return ending === undefined ? "INTERNAL" : outcome?.error?.code;
}

function toEnding({ status }: AgentRunOutcome): TraceEnding {
  return { word: status, isError: status === "failed" || status === "timed_out" };
}

function toWord(kind: RunEnd["kind"]): string {
  return kind.replaceAll("-", "_");
}
