import { type ToolOutcome, type TranscriptItem, toCallTarget } from "../../core/transcript.ts";

type ItemOf<Kind extends TranscriptItem["kind"]> = Extract<TranscriptItem, { kind: Kind }>;

/** One tool call of a run. Times are missing where the transcript is of an earlier version. */
export interface CallDetail {
  callId: string;
  tool: string;
  target: string;
  startedAtMs?: number;
  /** Of the tool alone, without the time in which it was permitted. */
  durationMs?: number;
  outcome: ToolOutcome;
}

/** One answer of the model. */
export interface AnswerDetail {
  atMs?: number;
  /** Since the request was made, requests that failed included. */
  waitedMs?: number;
  calls: number;
  text: string;
  stopReason: string;
  retries: ItemOf<"assistant">["retries"];
}

export type AttemptDetail = Omit<ItemOf<"attempt">, "kind">;

/** What a transcript tells of some runs of its chain, without the texts that went back and forth. */
export interface ChainDetail {
  attempts: AttemptDetail[];
  calls: CallDetail[];
  answers: AnswerDetail[];
  lastText: string;
  damagedLines: number[];
}

/** Fold a transcript; `isMeant` chooses the runs: a resumed delegation's transcript begins with another's. */
export async function foldTranscript(
  items: AsyncIterable<TranscriptItem>,
  isMeant: (runId: string) => boolean,
): Promise<ChainDetail> {
  const fold = new ChainFold();
  let isIn = false;
  for await (const item of items) {
    if (item.kind === "attempt") isIn = isMeant(item.runId);
    if (isIn || item.kind === "damaged") fold.take(item);
  }
  return fold.detail;
}

class ChainFold {
  readonly detail: ChainDetail = { attempts: [], calls: [], answers: [], lastText: "", damagedLines: [] };
  readonly #open = new Map<string, CallDetail>();
  #lastAtMs: number | undefined;

  take(item: TranscriptItem): void {
    switch (item.kind) {
      case "attempt": {
        const { kind: _, ...attempt } = item;
        this.detail.attempts.push(attempt);
        break;
      }
      case "assistant":
        this.#answer(item);
        break;
      case "tool-start":
        this.#start(item);
        break;
      case "tool-end":
        this.#end(item);
        break;
      case "damaged":
        this.detail.damagedLines.push(item.line);
        break;
      default:
        break;
    }
    this.#lastAtMs = item.atMs ?? this.#lastAtMs;
  }

  #answer({ atMs, text, calls, stopReason, retries }: ItemOf<"assistant">): void {
    const waitedMs =
      atMs === undefined || this.#lastAtMs === undefined ? undefined : Math.max(0, atMs - this.#lastAtMs);
    this.detail.answers.push({
      ...(atMs === undefined ? {} : { atMs }),
      ...(waitedMs === undefined ? {} : { waitedMs }),
      calls: calls.length,
      text,
      stopReason,
      retries,
    });
    if (text.trim() !== "") this.detail.lastText = text;
    for (const { callId, tool, input } of calls) {
      const call: CallDetail = { callId, tool, target: toCallTarget(input), outcome: "running" };
      this.detail.calls.push(call);
      this.#open.set(callId, call);
    }
  }

  #start({ callId, atMs }: ItemOf<"tool-start">): void {
    const call = this.#open.get(callId);
    if (call !== undefined && atMs !== undefined) call.startedAtMs = atMs;
  }

  #end({ callId, atMs, durationMs, outcome }: ItemOf<"tool-end">): void {
    const call = this.#open.get(callId);
    if (call === undefined) return;
    this.#open.delete(callId);
    call.outcome = outcome;
    if (durationMs !== undefined) call.durationMs = durationMs;
    // Only calls that may change something are written down as they start.
    const startedAtMs = call.startedAtMs ?? (atMs === undefined ? undefined : atMs - (durationMs ?? 0));
    if (startedAtMs !== undefined) call.startedAtMs = startedAtMs;
  }
}
