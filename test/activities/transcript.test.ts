// Tier: real files.
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { JournalEntry } from "../../activities/journal/journal-entry.ts";
import { createFileJournalStore } from "../../activities/journal/journal-store.ts";
import { openTranscript } from "../../activities/journal/read-transcript.ts";
import { JournalNotes } from "../../activities/run/journal-notes.ts";
import { type StateFolder, toSessionFolder, toStateFolder } from "../../core/state-folder.ts";
import { noUsage } from "../../core/status.ts";
import type { TranscriptItem } from "../../core/transcript.ts";

let folder: string;
let state: StateFolder;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "subagents-transcript-"));
  state = toStateFolder({ XDG_STATE_HOME: folder }, undefined);
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

async function readAll(): Promise<TranscriptItem[] | undefined> {
  const transcript = await openTranscript(state, "session", "task-1");
  if (transcript === undefined) return undefined;
  const items: TranscriptItem[] = [];
  for await (const item of transcript) items.push(item);
  return items;
}

const opening = { kind: "run", runId: "task-1", attempt: 1, atMs: 1000, worker: "7@here" } as const;
const usage = { input: 3, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 5 };
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 };
const answer = {
  role: "assistant",
  content: [
    { type: "thinking", thinking: "hm" },
    { type: "text", text: "I look." },
    { type: "toolCall", id: "call-1", name: "Read", arguments: { path: "ä.txt" } },
  ],
  api: "openai-completions",
  provider: "script",
  model: "s",
  usage: { ...usage, cost },
  stopReason: "toolUse",
  timestamp: 1500,
} as unknown as Extract<JournalEntry, { kind: "message" }>["message"];
const result = {
  role: "toolResult" as const,
  toolCallId: "call-1",
  toolName: "Read",
  content: [{ type: "text" as const, text: "ä\n😀" }],
  isError: false,
  timestamp: 1900,
};

async function write(...entries: JournalEntry[]): Promise<void> {
  const { writer } = await createFileJournalStore(state).takeOver("session", "task-1", {
    opening,
    inherit: async () => [],
    knownLines: 0,
  });
  for (const entry of entries) await writer.append(entry);
  await writer.close();
}

const file = () => path.join(toSessionFolder(state, "session").journals, "task-1.1.jsonl");

test("a transcript tells messages, calls and results in order, with times, retries and how each call ended", async () => {
  const notes = new JournalNotes();
  notes.addRetry({ atMs: 1100, waitMs: 50, nextTry: 2, code: "PROVIDER_OVERLOADED" });
  notes.addDenied("call-2");
  const said = notes.toEntry({ type: "message_end", message: answer });
  const end = notes.toEntry({
    type: "tool_execution_end",
    callId: "call-1",
    tool: "Read",
    result,
    durationMs: 40,
  });
  const denied = { ...result, toolCallId: "call-2", isError: true };
  const refused = notes.toEntry({
    type: "tool_execution_end",
    callId: "call-2",
    tool: "Read",
    result: denied,
    durationMs: undefined,
  });
  await write(
    { kind: "message", message: { role: "user", content: "look", timestamp: 1200 }, atMs: 1201 },
    ...[said, end, refused].flatMap((entry) => entry ?? []),
    { kind: "turn-end", atMs: 2000 },
  );
  expect(await readAll()).toEqual([
    { atMs: 1000, kind: "attempt", runId: "task-1", attempt: 1, worker: "7@here" },
    { atMs: 1201, kind: "user", text: "look" },
    {
      // An entry without a time of its own has its message's.
      atMs: 1500,
      kind: "assistant",
      text: "I look.",
      thinking: "hm",
      calls: [{ callId: "call-1", tool: "Read", input: { path: "ä.txt" } }],
      model: "script/s",
      stopReason: "toolUse",
      usage: { ...noUsage, input: 3, output: 2, cost: 0.5 },
      retries: [{ atMs: 1100, waitMs: 50, nextTry: 2, code: "PROVIDER_OVERLOADED" }],
    },
    {
      atMs: 1900,
      kind: "tool-end",
      callId: "call-1",
      tool: "Read",
      outcome: "ok",
      durationMs: 40,
      text: "ä\n😀",
    },
    { atMs: 1900, kind: "tool-end", callId: "call-2", tool: "Read", outcome: "denied", text: "ä\n😀" },
    { atMs: 2000, kind: "turn-end" },
  ]);
});

test("a line that is being written is left out, a damaged one is named, and the rest is read", async () => {
  await write({ kind: "turn-end" }, { kind: "turn-end" });
  await appendFile(file(), "no json\n");
  await appendFile(file(), '{"n":5,"kind":"turn-end","atMs":9}\n{"n":6,"kind":"turn-');
  expect((await readAll())?.slice(1)).toEqual([
    { kind: "turn-end" },
    { kind: "turn-end" },
    { kind: "damaged", line: 4 },
    { atMs: 9, kind: "turn-end" },
  ]);
});

test("a call that an earlier attempt left behind is told as interrupted", async () => {
  await write({ kind: "tool-end", result: { ...result, isError: true }, outcome: "interrupted", atMs: 5 });
  expect(await readAll()).toMatchObject([{ attempt: 1 }, { outcome: "interrupted", atMs: 5 }]);
});

test("there is no transcript where this host has none", async () => {
  expect(await readAll()).toBeUndefined();
  await mkdir(toSessionFolder(state, "session").journals, { recursive: true });
  await writeFile(file().replace("task-1.1", "task-10.1"), "");
  expect(await readAll()).toBeUndefined();
});

test("a journal that is a pipe is refused, and keeps nobody waiting", async () => {
  const { journals } = toSessionFolder(state, "session");
  await mkdir(journals, { recursive: true });
  execFileSync("mkfifo", [path.join(journals, "task-1.1.jsonl")]);
  await expect(readAll()).rejects.toThrow(
    "the journal can't be read: it is a named pipe (FIFO), not a regular file",
  );
});
