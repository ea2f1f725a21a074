import type { Readable } from "node:stream";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "@earendil-works/pi-ai";
import { type StateFolder, toSessionFolder } from "../../core/state-folder.ts";
import type { TranscriptItem } from "../../core/transcript.ts";
import { toUsage } from "../run/usage.ts";
import { toText } from "../thread/message-text.ts";
import { ChainFiles } from "./chain-files.ts";
import { fromLine, type JournalEntry } from "./journal-entry.ts";

/**
 * Read a chain's transcript for people, line by line, also while it is being written. Nothing is touched. A torn last line is left out, a damaged one is
 * named and passed over.
 *
 * @returns undefined where this host has no such journal
 */
export async function openTranscript(
  state: StateFolder,
  sessionId: string,
  chain: string,
): Promise<AsyncIterable<TranscriptItem> | undefined> {
  const file = await new ChainFiles(toSessionFolder(state, sessionId).journals, chain).openLatest();
  return file === undefined ? undefined : readItems(file.createReadStream({ encoding: "utf8" }));
}

async function* readItems(stream: Readable): AsyncIterable<TranscriptItem> {
  let line = 0;
  for await (const text of readWholeLines(stream)) {
    line += 1;
    yield* toItems(text, line);
  }
}

/** A line is whole once its line feed is there; what follows the last one was torn by a crash or is being written. */
async function* readWholeLines(stream: Readable): AsyncIterable<string> {
  let parts: string[] = [];
  for await (const chunk of stream as AsyncIterable<string>) {
    const [first = "", ...others] = chunk.split("\n");
    parts.push(first);
    for (const next of others) {
      yield parts.join("");
      parts = [next];
    }
  }
}

function toItems(text: string, line: number): TranscriptItem[] {
  try {
    return toItem(fromLine(text, line));
  } catch {
    return [{ kind: "damaged", line }];
  }
}

function toItem(entry: JournalEntry): TranscriptItem[] {
  const at = entry.atMs === undefined ? {} : { atMs: entry.atMs };
  switch (entry.kind) {
    case "run": {
      const { runId, attempt, worker, before } = entry;
      const known = {
        ...(worker === undefined ? {} : { worker }),
        ...(before === undefined ? {} : { before }),
      };
      return [{ ...at, kind: "attempt", runId, attempt, ...known }];
    }
    case "message":
      return [
        entry.message.role === "user"
          ? { ...toTime(at, entry.message), kind: "user", text: toUserText(entry.message) }
          : { ...toTime(at, entry.message), ...toAnswer(entry.message), retries: entry.retries ?? [] },
      ];
    case "tool-start":
      return [{ ...at, kind: "tool-start", callId: entry.callId }];
    case "tool-end":
      return [{ ...toTime(at, entry.result), ...toToolEnd(entry) }];
    case "turn-end":
      return [{ ...at, kind: "turn-end" }];
    case "end": {
      const { status, report, error } = entry.outcome;
      return [
        { ...at, kind: "end", runId: entry.runId, status, report, ...(error === undefined ? {} : { error }) },
      ];
    }
  }
}

/** Journals of earlier versions have no times of their own, yet their messages have. */
function toTime(at: { atMs?: number }, { timestamp }: { timestamp: number }): { atMs?: number } {
  return at.atMs === undefined && timestamp > 0 ? { atMs: timestamp } : at;
}

function toUserText({ content }: UserMessage): string {
  return typeof content === "string" ? content : toPlainText(content);
}

function toPlainText(content: ToolResultMessage["content"]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

function toAnswer(message: AssistantMessage) {
  const { content, provider, model, stopReason, usage } = message;
  return {
    kind: "assistant" as const,
    text: toText(message),
    thinking: content.flatMap((part) => (part.type === "thinking" ? [part.thinking] : [])).join("\n"),
    calls: content.flatMap((part) =>
      part.type === "toolCall" ? [{ callId: part.id, tool: part.name, input: part.arguments }] : [],
    ),
    model: `${provider}/${model}`,
    stopReason,
    usage: toUsage(usage),
  };
}

function toToolEnd({ result, durationMs, outcome }: Extract<JournalEntry, { kind: "tool-end" }>) {
  return {
    kind: "tool-end" as const,
    callId: result.toolCallId,
    tool: result.toolName,
    outcome: outcome ?? (result.isError ? ("error" as const) : ("ok" as const)),
    ...(durationMs === undefined ? {} : { durationMs }),
    text: toPlainText(result.content),
  };
}
