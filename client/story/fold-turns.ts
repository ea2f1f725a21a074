import { type AgentRunOutcome, agentRunOutcomeSchema } from "../../core/agent-run.ts";
import { type SessionState, toTurnStatus, turnStatuses } from "../../core/session.ts";
import { addUsage, failureCodes, noUsage } from "../../core/status.ts";
import { cutAt } from "../../core/text.ts";
import { fromTurnLine } from "../../core/turn-line.ts";

const KEPT_PROMPT_CHARACTERS = 1000;

/** Keeps the turns of a session's history as the session itself does. */
export class TurnFold {
  readonly #state: SessionState;
  #outcome: AgentRunOutcome | undefined;
  #failure = "";

  constructor(state: SessionState) {
    this.#state = state;
  }

  open(arg: unknown, answer: unknown, atMs: number): void {
    const { turn: number } = (answer ?? {}) as { turn?: unknown };
    if (typeof number !== "number" || number <= this.#state.lastTurn) return;
    this.#state.lastTurn = number;
    this.#outcome = undefined;
    this.#failure = "";
    const { prompt } = (arg ?? {}) as { prompt?: unknown };
    this.#state.turns.push({
      number,
      prompt: cutAt(String(prompt ?? ""), KEPT_PROMPT_CHARACTERS),
      status: "running",
      startedAtMs: atMs,
      answer: "",
      turns: 0,
      toolCalls: 0,
      usage: noUsage,
      attempts: 0,
    });
  }

  /** A run of the main agent has ended; what it came to counts for the latest turn. */
  takeOutcome(result: unknown, failure: string): void {
    this.#failure = failure;
    const outcome = agentRunOutcomeSchema.safeParse(result).data;
    const turn = this.#state.turns.at(-1);
    if (outcome === undefined || turn === undefined) return;
    // A further step that ends without a word does not undo what was said before it.
    this.#outcome = { ...outcome, report: outcome.report || (this.#outcome?.report ?? "") };
    turn.turns += outcome.turns;
    turn.toolCalls += outcome.toolCalls;
    turn.usage = addUsage(turn.usage, outcome.usage);
    turn.attempts += outcome.attempts;
  }

  /** The session writes down how a turn ended, as `1: failed NO_REPORT`. @returns whether it did */
  end(line: unknown, atMs: number): boolean {
    const written = fromTurnLine(line);
    const turn = this.#state.turns.find(({ number }) => number === written?.number);
    if (turn === undefined || turn.status !== "running") return false;
    const outcome = this.#outcome;
    const known = turnStatuses.find((status) => status === written?.status);
    turn.status = known ?? (outcome === undefined ? "failed" : toTurnStatus(outcome.status));
    turn.answer = outcome?.report ?? "";
    turn.endedAtMs = atMs;
    const failure = failureCodes.find((each) => each === written?.code);
    const error = outcome?.error ?? (failure && { code: failure, message: this.#failure });
    if (error !== undefined) turn.error = error;
    return true;
  }
}
