import { describeForLater } from "../../core/activity-text.ts";
import type { AgentRunDetails, Denial, RunPhase } from "../../core/agent-run.ts";
import { countLosses } from "../../core/attempts.ts";
import { MAX_REPORT_CHARACTERS } from "../../core/limits.ts";
import { addUsage, noUsage, type Usage } from "../../core/status.ts";
import { bound, cutAt } from "../../core/text.ts";
import { toText } from "../thread/message-text.ts";
import type { ThreadEvent } from "../thread/protocol.ts";
import { toUsage } from "./usage.ts";

/** Denials that a run keeps; a model that insists must not fill a history. */
const MAX_DENIALS = 20;
const MAX_DENIAL_CHARACTERS = 300;

export interface RunStart {
  attempt: number;
  /** Details of the last attempt that could speak. */
  previous: AgentRunDetails | undefined;
  model: string;
  worker: string;
}

/** What the journal tells of the attempts before. */
export interface RunProgress {
  start: { turns: number };
  toolCalls: number;
  usage: Usage;
  lastText: string;
  writer: { readonly lines: number };
}

/** Folds a run's events into what can be told of it at any moment: the live view, and the partial report. */
export class RunMonitor {
  turns: number;
  toolCalls: number;
  usage: Usage;
  model: string;
  journalLines: number;
  losses: number;
  isHandedBack = false;
  readonly denials: Denial[];
  readonly #start: RunStart;
  readonly #startedAtMs: number;
  readonly #tools = new Map<string, { name: string; target: string; sinceMs: number }>();
  #turnsAtStart: number;
  #lastEventAtMs: number;
  #phase: RunPhase = "setting-up";
  #questions = 0;
  #backoff: { nextTry: number; untilMs: number } | undefined;
  /** Text of the assistant message that is being streamed. */
  #current = "";
  #lastText: string;

  constructor(start: RunStart, nowMs: number) {
    const { previous } = start;
    this.#start = start;
    this.#startedAtMs = nowMs;
    this.#lastEventAtMs = nowMs;
    this.model = start.model;
    this.turns = previous?.turns ?? 0;
    this.#turnsAtStart = this.turns;
    this.toolCalls = previous?.toolCalls ?? 0;
    this.usage = previous?.usage ?? noUsage;
    this.denials = [...(previous?.denials ?? [])];
    this.journalLines = previous?.journalLines ?? 0;
    this.losses = countLosses(start.attempt, previous, this.turns);
    this.#lastText = previous?.partialReport ?? "";
  }

  /** Go on from what the journal tells, which is more than the last heartbeat did. */
  resume(progress: RunProgress, losses: number): void {
    this.turns = progress.start.turns;
    this.#turnsAtStart = this.turns;
    this.toolCalls = progress.toolCalls;
    this.usage = progress.usage;
    this.journalLines = progress.writer.lines;
    this.losses = losses;
    if (progress.lastText !== "") this.#lastText = progress.lastText;
  }

  apply(event: ThreadEvent, nowMs: number): void {
    this.#lastEventAtMs = nowMs;
    this.#backoff = undefined;
    if (this.#phase !== "saving") this.#phase = "model";
    switch (event.type) {
      case "message_start":
        if (event.role === "assistant") this.#finishText();
        break;
      case "message_update":
        if (event.part === "text") this.#current += event.delta;
        break;
      case "message_end":
        this.#applyMessage(event);
        break;
      case "tool_execution_start":
        this.#tools.set(event.callId, { name: event.tool, target: event.target, sinceMs: nowMs });
        break;
      case "tool_execution_end":
        this.#tools.delete(event.callId);
        this.toolCalls += 1;
        break;
      case "turn_end":
        this.turns += 1;
        break;
      default:
        break;
    }
  }

  #applyMessage({ message }: Extract<ThreadEvent, { type: "message_end" }>): void {
    if (message.role !== "assistant") return;
    this.#current = toText(message);
    this.#finishText();
    this.usage = addUsage(this.usage, toUsage(message.usage));
  }

  #finishText(): void {
    if (this.#current.trim() !== "") this.#lastText = this.#current;
    this.#current = "";
  }

  openQuestion(): void {
    this.#questions += 1;
  }

  closeQuestion(): void {
    this.#questions -= 1;
  }

  startBackoff(nextTry: number, untilMs: number): void {
    this.#backoff = { nextTry, untilMs };
  }

  startSaving(): void {
    this.#phase = "saving";
  }

  addDenial(denial: Denial): void {
    if (this.denials.length >= MAX_DENIALS) return;
    this.denials.push({
      ...denial,
      target: cutAt(denial.target, MAX_DENIAL_CHARACTERS),
      reason: cutAt(denial.reason, MAX_DENIAL_CHARACTERS),
    });
  }

  /** The tool that has been running longest. */
  get oldestTool(): { name: string; target: string; sinceMs: number } | undefined {
    return this.#tools.values().next().value;
  }

  get phase(): RunPhase {
    if (this.#phase === "setting-up" || this.#phase === "saving") return this.#phase;
    if (this.#questions > 0) return "question";
    if (this.#tools.size > 0) return "tool";
    return this.#backoff === undefined ? "model" : "backoff";
  }

  /** The last assistant text seen so far, finished or not. */
  get partialText(): string {
    return this.#current.trim() === "" ? this.#lastText : this.#current;
  }

  toDetails(): AgentRunDetails {
    const tool = this.oldestTool;
    const now = {
      phase: this.phase,
      ...(tool === undefined ? {} : { tool }),
      ...(this.#backoff === undefined ? {} : { backoff: this.#backoff }),
    };
    return {
      doing: describeForLater(now),
      lastEventAt: new Date(this.#lastEventAtMs).toISOString(),
      turns: this.turns,
      toolCalls: this.toolCalls,
      partialReport: boundReport(this.partialText, MAX_REPORT_CHARACTERS),
      ...now,
      usage: this.usage,
      denials: this.denials.slice(0, 5),
      startedAtMs: this.#startedAtMs,
      lastEventAtMs: this.#lastEventAtMs,
      toldAtMs: Date.now(),
      attempt: this.#start.attempt,
      losses: this.losses,
      turnsAtStart: this.#turnsAtStart,
      journalLines: this.journalLines,
      handedBack: this.isHandedBack,
      worker: this.#start.worker,
    };
  }
}

/** Bound a report; the mark says how much is missing and where the whole is. */
export function boundReport(text: string, limit: number): string {
  return bound(
    text.trim(),
    limit,
    (leftOut) => `\n[${leftOut} characters left out; the transcript has the whole text]`,
  );
}
