import type { ToolResultMessage } from "@earendil-works/pi-ai";
import type { AgentRunDetails, AgentRunInput, AgentRunOutcome } from "../../core/agent-run.ts";
import { noUsage, type Usage } from "../../core/status.ts";
import { toolsWithEffects } from "../../core/tools.ts";
import {
  foldJournal,
  type JournalEntry,
  type JournalState,
  type RunOpening,
} from "../journal/journal-entry.ts";
import { JournalUnreadable } from "../journal/journal-error.ts";
import type { JournalStore, JournalWriter } from "../journal/journal-store.ts";
import type { ThreadStart } from "../thread/protocol.ts";

/** Where an attempt begins: at the start of its work, or where an earlier attempt was cut off. */
export interface ResumePoint {
  writer: JournalWriter;
  /** Set when an earlier attempt had ended already and only its answer was lost. */
  outcome: AgentRunOutcome | undefined;
  start: Pick<ThreadStart, "history" | "hasPrompt" | "unfinished" | "turns" | "isTurnOpen">;
  toolCalls: number;
  usage: Usage;
  lastText: string;
}

/** Which attempt takes a run up, and what is known of those before. */
export interface AttemptNumber {
  number: number;
  /** The workflow execution that the run belongs to. */
  execution: string | undefined;
  /** By the server's clock. */
  scheduledAtMs: number;
  /** Process id and host of its worker. */
  worker: string;
  /** Details of the last attempt that could speak. */
  previous: AgentRunDetails | undefined;
}

/**
 * Take a run's journal over and find where to go on.
 *
 * Finished calls keep their results. An unfinished call that may have changed something is answered "may have run" and never run again; one that only
 * reads, or never started, runs again. @throws JournalUnreadable rather than go on from a wrong place, JournalOvertaken if a later attempt has begun.
 */
export async function openResumePoint(
  run: AgentRunInput,
  attempt: AttemptNumber,
  journals: JournalStore,
): Promise<ResumePoint> {
  const { entries, writer } = await journals.takeOver(run.sessionId, run.chain, {
    opening: toOpening(run, attempt),
    inherit: async () => await inheritFrom(run, journals),
    // As many as the server was told of.
    knownLines: attempt.previous?.journalLines ?? 0,
  });
  const before = foldJournal(entries);
  const isSame = (of: { runId: string | undefined; execution: string | undefined } | undefined) =>
    of?.runId === run.runId && of.execution === attempt.execution;
  const isSameRun = isSame(before);
  const end = isSame(before.end) ? before.end?.outcome : undefined;
  const start = await toStart(before, isSameRun, writer);
  return {
    writer,
    outcome: end,
    start,
    toolCalls: isSameRun ? before.toolCalls + countAnswered(start, before) : 0,
    usage: isSameRun ? before.usage : noUsage,
    lastText: isSameRun ? before.lastText : "",
  };
}

function toOpening(run: AgentRunInput, attempt: AttemptNumber): RunOpening {
  const { execution, previous } = attempt;
  return {
    kind: "run",
    runId: run.runId,
    ...(execution === undefined ? {} : { execution }),
    attempt: attempt.number,
    atMs: Date.now(),
    scheduledAtMs: attempt.scheduledAtMs,
    worker: attempt.worker,
    ...(previous === undefined ? {} : { before: toBefore(previous) }),
  };
}

function toBefore({ attempt, worker, lastEventAtMs, handedBack }: AgentRunDetails) {
  return { attempt, worker, lastEventAtMs, isHandedBack: handedBack };
}

/** Calls of the turn that was cut off that have got their answer only now. */
function countAnswered(start: ResumePoint["start"], before: JournalState): number {
  return (start.unfinished?.results.length ?? before.results.size) - before.results.size;
}

/** What a chain without a journal begins with: nothing, or the transcript of the delegation that it continues. */
async function inheritFrom(run: AgentRunInput, journals: JournalStore): Promise<JournalEntry[]> {
  if (run.hasTranscript) {
    throw new JournalUnreadable(
      "the conversation so far is not in this worker's state folder: run the worker where it is, or begin a new session",
    );
  }
  if (run.resumeFrom === undefined) return [];
  const entries = await journals.read(run.sessionId, run.resumeFrom);
  if (entries.length === 0)
    throw new JournalUnreadable(`the transcript of ${run.resumeFrom} is not there any more`);
  return entries.filter((entry) => entry.kind !== "end");
}

async function toStart(
  before: JournalState,
  isSameRun: boolean,
  writer: JournalWriter,
): Promise<ResumePoint["start"]> {
  const last = before.messages.at(-1);
  const calls = last?.role === "assistant" ? last.content.filter((part) => part.type === "toolCall") : [];
  const isCutOff = before.isTurnOpen && calls.length > 0;
  const base = {
    history: before.messages,
    hasPrompt: isSameRun && before.hasRunMessages,
    turns: isSameRun ? before.turns : 0,
  };
  if (!isCutOff) return { ...base, unfinished: undefined, isTurnOpen: isSameRun && before.isTurnOpen };

  const results = new Map(before.results);
  const rerun: string[] = [];
  for (const call of calls) {
    if (results.has(call.id)) continue;
    const mayHaveRun = toolsWithEffects.has(call.name) && before.started.has(call.id);
    if (isSameRun && !mayHaveRun) {
      rerun.push(call.id);
      continue;
    }
    const result = toInterrupted(call.id, call.name, mayHaveRun);
    await writer.append({ kind: "tool-end", result, outcome: "interrupted", atMs: Date.now() });
    results.set(call.id, result);
  }
  const ordered = calls.flatMap((call) => results.get(call.id) ?? []);
  if (isSameRun) return { ...base, unfinished: { results: ordered, rerun }, isTurnOpen: true };
  // An earlier run of this chain ended between a call and its result: its transcript is completed, not its work.
  await writer.append({ kind: "turn-end", atMs: Date.now() });
  return { ...base, history: [...before.messages, ...ordered], unfinished: undefined, isTurnOpen: false };
}

function toInterrupted(toolCallId: string, toolName: string, mayHaveRun: boolean): ToolResultMessage {
  const text = mayHaveRun
    ? `Interrupted: the run was cut off while this ${toolName} call was under way. It may have run, wholly or in part. Check its effects before repeating it.`
    : `Interrupted before it started: this ${toolName} call did not run.`;
  return {
    role: "toolResult",
    toolCallId,
    toolName,
    content: [{ type: "text", text }],
    isError: true,
    timestamp: Date.now(),
  };
}
