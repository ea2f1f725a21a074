import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from "@earendil-works/pi-ai";
import { z } from "zod";
import type { AgentRunOutcome } from "../../core/agent-run.ts";
import { addUsage, noUsage, type Usage } from "../../core/status.ts";
import { toUsage } from "../run/usage.ts";
import { toText } from "../thread/message-text.ts";

/** One line of a journal. Written ahead: what a line says is on disk before the run goes on. */
export type JournalEntry = { atMs?: number } & (
  | RunOpening
  /** `retries`: requests that failed before this answer came. */
  | { kind: "message"; message: UserMessage | AssistantMessage; retries?: JournalRetry[] }
  /** A call was allowed and is about to start; an entry without its end means that the call may have run. */
  | { kind: "tool-start"; callId: string; atMs: number }
  /** `durationMs`: of the tool alone, without the time in which it was permitted. */
  | {
      kind: "tool-end";
      result: ToolResultMessage;
      durationMs?: number;
      outcome?: "denied" | "interrupted";
    }
  | { kind: "turn-end" }
  /** The run's outcome, for an activity whose answer got lost. */
  | { kind: "end"; runId: string; execution?: string; outcome: AgentRunOutcome }
);

/** A request that failed and was made again after a pause. */
export interface JournalRetry {
  atMs: number;
  waitMs: number;
  /** Number of the request that followed. */
  nextTry: number;
  /** Why it failed. */
  code?: string;
}

/** A run begins in this chain, or is taken up by another attempt. */
export interface RunOpening {
  kind: "run";
  runId: string;
  /** The workflow execution that the run belongs to: an id that is used again, or a reset workflow, begins a run of its own. */
  execution?: string;
  attempt: number;
  atMs: number;
  /** When the server scheduled the attempt, by its own clock: tells which of two attempts is the later one. */
  scheduledAtMs?: number;
  /** Process id and host of the worker. */
  worker?: string;
  /** The attempt before, as far as it could still speak. */
  before?: { attempt: number; worker: string; lastEventAtMs: number; isHandedBack: boolean };
}

const entrySchema = z.discriminatedUnion("kind", [
  z.looseObject({ kind: z.literal("run"), runId: z.string() }),
  z.looseObject({
    kind: z.literal("message"),
    message: z.looseObject({ role: z.enum(["user", "assistant"]) }),
  }),
  z.looseObject({ kind: z.literal("tool-start"), callId: z.string() }),
  z.looseObject({ kind: z.literal("tool-end"), result: z.looseObject({ toolCallId: z.string() }) }),
  z.looseObject({ kind: z.literal("turn-end") }),
  z.looseObject({
    kind: z.literal("end"),
    runId: z.string(),
    outcome: z.looseObject({ status: z.string() }),
  }),
]);

/** Write an entry as the journal's line of this number, from 1. */
export function toLine(entry: JournalEntry, number: number): string {
  return `${JSON.stringify({ n: number, ...entry })}\n`;
}

/** Read a line of a journal. Its number tells that none before it is missing. @throws Error if it is not that line */
export function fromLine(line: string, number: number): JournalEntry {
  const { n, ...entry } = z.looseObject({ n: z.literal(number) }).parse(JSON.parse(line));
  entrySchema.parse(entry);
  return entry as unknown as JournalEntry;
}

/** What a journal says of a chain. */
export interface JournalState {
  /** The transcript without system messages; the last assistant message's results are still apart, in `results`. */
  messages: Message[];
  /** The latest run and what is known of it. */
  runId: string | undefined;
  execution: string | undefined;
  /** The latest run's last assistant text that says something. */
  lastText: string;
  turns: number;
  toolCalls: number;
  usage: Usage;
  /** Whether the latest run has messages of its own yet, the first of which is its prompt. */
  hasRunMessages: boolean;
  /** Whether the last assistant message has no end of turn yet. */
  isTurnOpen: boolean;
  /** Calls of the last assistant message that were allowed to start. */
  started: ReadonlySet<string>;
  /** Results of the last assistant message's calls. */
  results: ReadonlyMap<string, ToolResultMessage>;
  end: { runId: string; execution: string | undefined; outcome: AgentRunOutcome } | undefined;
}

/** Fold a journal's entries into the state that a next attempt begins with. */
export function foldJournal(entries: readonly JournalEntry[]): JournalState {
  const messages: Message[] = [];
  let runId: string | undefined;
  let execution: string | undefined;
  let lastText = "";
  let turns = 0;
  let toolCalls = 0;
  let started = new Set<string>();
  let results = new Map<string, ToolResultMessage>();
  let usage = noUsage;
  let hasRunMessages = false;
  let isTurnOpen = false;
  let end: JournalState["end"];
  const settleResults = () => {
    messages.push(...orderResults(messages.at(-1), results));
    results = new Map();
    started = new Set();
  };
  for (const entry of entries) {
    switch (entry.kind) {
      case "run":
        if (entry.runId !== runId || entry.execution !== execution) {
          lastText = "";
          turns = 0;
          toolCalls = 0;
          usage = noUsage;
          hasRunMessages = false;
        }
        runId = entry.runId;
        execution = entry.execution;
        break;
      case "message":
        settleResults();
        messages.push(entry.message);
        hasRunMessages = true;
        isTurnOpen = entry.message.role === "assistant";
        if (entry.message.role === "assistant") {
          usage = addUsage(usage, toUsage(entry.message.usage));
          lastText = toText(entry.message).trim() === "" ? lastText : toText(entry.message);
        }
        break;
      case "tool-start":
        started.add(entry.callId);
        break;
      case "tool-end":
        results.set(entry.result.toolCallId, entry.result);
        toolCalls += 1;
        break;
      case "turn-end":
        settleResults();
        turns += 1;
        isTurnOpen = false;
        break;
      case "end":
        end = { runId: entry.runId, execution: entry.execution, outcome: entry.outcome };
        break;
    }
  }
  return {
    messages,
    runId,
    execution,
    lastText,
    turns,
    toolCalls,
    usage,
    hasRunMessages,
    isTurnOpen,
    started,
    results,
    end,
  };
}

/** Results in the order of the calls that they answer: providers pair them so. */
function orderResults(
  last: Message | undefined,
  results: ReadonlyMap<string, ToolResultMessage>,
): ToolResultMessage[] {
  if (results.size === 0 || last?.role !== "assistant") return [];
  return last.content.flatMap((part) => (part.type === "toolCall" ? (results.get(part.id) ?? []) : []));
}
