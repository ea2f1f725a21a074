// Tier: no server.

import type { AssistantMessage, Message, ToolResultMessage } from "@earendil-works/pi-ai";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { foldJournal, fromLine, type JournalEntry, toLine } from "../../activities/journal/journal-entry.ts";

const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } };

function said(text: string, calls: string[]): JournalEntry {
  const message = {
    role: "assistant",
    content: [
      { type: "text", text },
      ...calls.map((id) => ({ type: "toolCall", id, name: "Bash", arguments: {} })),
    ],
    usage,
    stopReason: calls.length > 0 ? "toolUse" : "stop",
  };
  return { kind: "message", message: message as unknown as AssistantMessage };
}

function result(toolCallId: string): JournalEntry {
  return {
    kind: "tool-end",
    result: { role: "toolResult", toolCallId, toolName: "Bash", content: [], isError: false, timestamp: 0 },
  };
}

/** A turn as a run writes it: calls are permitted and end in any order; a call may also be taken up by a later attempt. */
const turnOf = (turn: number) =>
  fc
    .record({ calls: fc.nat({ max: 4 }), order: fc.infiniteStream(fc.nat()), attempts: fc.nat({ max: 2 }) })
    .map(({ calls, order, attempts }): JournalEntry[] => {
      const ids = Array.from({ length: calls }, (_, index) => `c${turn}-${index}`);
      const steps: JournalEntry[] = ids.flatMap((callId) => [
        { kind: "tool-start", callId, atMs: 0 },
        result(callId),
      ]);
      // Shuffled, yet a call's start stays before its end.
      const shuffled = steps
        .map((step) => ({ step, rank: (order.next().value ?? 0) % 1000 }))
        .toSorted((left, right) => left.rank - right.rank)
        .map(({ step }) => step);
      const position = (callId: string) =>
        shuffled.findIndex((step) => step.kind === "tool-start" && step.callId === callId);
      for (const callId of ids) {
        const start = position(callId);
        const end = shuffled.findIndex(
          (step) => step.kind === "tool-end" && step.result.toolCallId === callId,
        );
        if (end < start)
          [shuffled[start], shuffled[end]] = [shuffled[end] as JournalEntry, shuffled[start] as JournalEntry];
      }
      const takenUp: JournalEntry[] = Array.from({ length: attempts }, (_, index) => ({
        kind: "run",
        runId: "task-1",
        attempt: index + 2,
        atMs: 0,
      }));
      const middle = Math.floor(shuffled.length / 2);
      return [
        said(`turn ${turn}`, ids),
        ...shuffled.slice(0, middle),
        ...takenUp,
        ...shuffled.slice(middle),
        { kind: "turn-end" },
      ];
    });

const journal = fc
  .integer({ min: 1, max: 5 })
  .chain((turns) => fc.tuple(...Array.from({ length: turns }, (_, index) => turnOf(index + 1))))
  .map((turns): JournalEntry[] => [
    { kind: "run", runId: "task-1", attempt: 1, atMs: 0 },
    { kind: "message", message: { role: "user", content: "go", timestamp: 0 } },
    ...turns.flat(),
  ]);

/** Every call but those of a last message that is still open is answered once, in the order of the calls, right behind its message. */
function findUnpaired(messages: readonly Message[], isOpenAtEnd: boolean): string | undefined {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (open.shift() !== message.toolCallId) return `a stray or misplaced result of ${message.toolCallId}`;
      continue;
    }
    if (open.length > 0) return `no result of ${open.join()}`;
    open =
      message.role === "assistant"
        ? message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []))
        : [];
  }
  return open.length > 0 && !isOpenAtEnd ? `no result of ${open.join()} at the end` : undefined;
}

describe("the fold of a journal", () => {
  test("gives a paired transcript for whatever part of it is on disk", () => {
    fc.assert(
      fc.property(journal, fc.nat(), (entries, cut) => {
        const state = foldJournal(entries.slice(0, cut % (entries.length + 1)));
        expect(findUnpaired(state.messages, state.isTurnOpen)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test("keeps every result that is on disk, and knows every call that may have run", () => {
    fc.assert(
      fc.property(journal, fc.nat(), (entries, cut) => {
        const prefix = entries.slice(0, cut % (entries.length + 1));
        const state = foldJournal(prefix);
        const kept = [
          ...state.messages.filter((message): message is ToolResultMessage => message.role === "toolResult"),
          ...state.results.values(),
        ].map(({ toolCallId }) => toolCallId);
        const onDisk = prefix.flatMap((entry) =>
          entry.kind === "tool-end" ? [entry.result.toolCallId] : [],
        );
        expect(kept.toSorted()).toEqual(onDisk.toSorted());
        const started = prefix.flatMap((entry) => (entry.kind === "tool-start" ? [entry.callId] : []));
        const ended = new Set(onDisk);
        for (const callId of started) if (!ended.has(callId)) expect(state.started.has(callId)).toBe(true);
        expect(state.toolCalls).toBe(onDisk.length);
        expect(state.turns).toBe(prefix.filter(({ kind }) => kind === "turn-end").length);
      }),
      { numRuns: 500 },
    );
  });

  test("counts the usage and the turns of the latest run alone", () => {
    const run = (runId: string): JournalEntry => ({ kind: "run", runId, attempt: 1, atMs: 0 });
    const turn = [said("a", []), { kind: "turn-end" } as const];
    expect(foldJournal([run("turn-1"), ...turn, ...turn, run("turn-2"), ...turn])).toMatchObject({
      runId: "turn-2",
      turns: 1,
      usage: { input: 1, output: 2, cost: 0.5 },
    });
    expect(foldJournal([run("turn-1"), ...turn, run("turn-1"), ...turn])).toMatchObject({ turns: 2 });
  });
});

describe("a line of a journal", () => {
  test("says the same when it is read back, and is one line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 1e6 }), (text, number) => {
        const entry: JournalEntry = {
          kind: "message",
          message: { role: "user", content: text, timestamp: 0 },
        };
        const line = toLine(entry, number);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(fromLine(line.slice(0, -1), number)).toEqual(entry);
      }),
    );
  });

  test("that is cut anywhere, or stands at another place, is refused", () => {
    const line = toLine({ kind: "tool-start", callId: "c1", atMs: 5 }, 7).slice(0, -1);
    for (let length = 0; length < line.length; length++)
      expect(() => fromLine(line.slice(0, length), 7)).toThrow();
    expect(() => fromLine(line, 6)).toThrow();
    expect(fromLine(line, 7)).toEqual({ kind: "tool-start", callId: "c1", atMs: 5 });
  });
});
