import { Context } from "@temporalio/activity";
import type { AgentRunDetails, AgentRunInput, AgentRunOutcome, RunPhase } from "../../core/agent-run.ts";
import type { TraceContext } from "../../core/trace-context.ts";
import type { RunEnd } from "../run/run-outcome.ts";
import type { RequestEnding, ThreadEvent } from "../thread/protocol.ts";
import { Guard } from "./guard.ts";
import { RunMeter } from "./run-meter.ts";
import { RunTrace, type TraceEnding } from "./run-trace.ts";

/**
 * What an attempt tells of itself to telemetry: its spans and its numbers.
 *
 * Contract: never throws and never decides anything, whatever the product's own OpenTelemetry SDK or meter does.
 */
export class RunTelemetry {
  readonly #guard: Guard;
  readonly #trace: RunTrace | undefined;
  readonly #meter: RunMeter | undefined;
  #ending: TraceEnding | undefined;

  constructor(run: AgentRunInput) {
    const { info, metricMeter, log } = Context.current();
    this.#guard = new Guard((text) => log.warn(text));
    const place = {
      attempt: info.attempt,
      workflowId: info.workflowExecution?.workflowId ?? "",
      workflowRunId: info.workflowExecution?.runId ?? "",
      activityId: info.activityId,
    };
    this.#trace = this.#guard.attempt(() => new RunTrace(run, place, this.#guard));
    this.#meter = this.#guard.attempt(() => new RunMeter(metricMeter, run));
  }

  /** Whether spans are made here: then the agent thread tells of its requests. */
  get isTraced(): boolean {
    return this.#trace?.isOn ?? false;
  }

  /** Look at the attempts before. */
  follow(attempt: number, previous: AgentRunDetails | undefined): void {
    this.#guard.attempt(() => this.#meter?.follow(attempt, previous));
  }

  onEvent(event: ThreadEvent, phase: RunPhase): void {
    this.#guard.attempt(() => this.#meter?.onEvent(phase));
    this.#guard.attempt(() => traceEvent(this.#trace, event));
  }

  /** @returns what the request carries to the provider */
  startRequest(): TraceContext | undefined {
    return this.#guard.attempt(() => this.#trace?.startRequest());
  }

  endRequest(ending: RequestEnding): void {
    this.#guard.attempt(() => this.#trace?.endRequest(ending));
  }

  /** What belongs under a tool's call. */
  toolContext(callId: string): TraceContext | undefined {
    return this.#guard.attempt(() => this.#trace?.toolContext(callId));
  }

  openQuestion(callId: string, tool: string): void {
    this.#guard.attempt(() => this.#meter?.openQuestion(callId));
    this.#guard.attempt(() => this.#trace?.openQuestion(callId, tool));
  }

  endPermit(callId: string, isAllowed: boolean): void {
    this.#guard.attempt(() => this.#meter?.endPermit(callId, isAllowed));
    this.#guard.attempt(() => this.#trace?.endPermit(callId, isAllowed));
  }

  /** Take the first cause that ends the attempt; what is told after that changes nothing. */
  interrupt(end: RunEnd, outcome: AgentRunOutcome | undefined): void {
    if (end.kind === "idle") this.#guard.attempt(() => this.#meter?.onIdle(end.silenceMs));
    const ending = outcome === undefined ? { word: toWord(end.kind), isError: false } : toEnding(outcome);
    this.#ending = ending;
    this.#guard.attempt(() =>
      this.#trace?.interrupt({ ...ending, word: outcome?.error?.code ?? ending.word }),
    );
  }

  /** Close the attempt, by its outcome if it has one. */
  end(outcome: AgentRunOutcome | undefined, counts: Pick<AgentRunOutcome, "turns" | "toolCalls">): void {
    this.#guard.attempt(() => this.#meter?.end());
    const ending = outcome === undefined ? this.#ending : toEnding(outcome);
    const last = ending ?? { word: "failed", isError: true };
    this.#guard.attempt(() => this.#trace?.end(last, outcome ?? counts, toCode(outcome, ending)));
  }
}

function traceEvent(trace: RunTrace | undefined, event: ThreadEvent): void {
  if (event.type === "message_update") trace?.hear();
  else if (event.type === "tool_execution_start") trace?.startTool(event.callId, event.tool);
  else if (event.type === "tool_execution_end") trace?.endTool(event.callId, event.result.isError);
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
