import { describe, expect, test } from "@jest/globals";
import { describeCall, toChainLines, toToolSummary } from "../../client/cli/chain-text.ts";
import { toStatuses, toTimeMs } from "../../client/cli/session-filters.ts";
import { toItemText } from "../../client/cli/show-transcript.ts";
import { toSummaryText } from "../../client/cli/summary.ts";
import { describeHappening, toTimelineText } from "../../client/cli/timeline-text.ts";
import { foldTranscript } from "../../client/story/chain-detail.ts";
import { createDelegation } from "../../core/delegation.ts";
import { noUsage } from "../../core/status.ts";
import type { TranscriptItem } from "../../core/transcript.ts";

async function* stream(items: TranscriptItem[]): AsyncIterable<TranscriptItem> {
  yield* items;
}

const said = (text: string, ...calls: string[]): TranscriptItem => ({
  kind: "assistant",
  text,
  thinking: "",
  calls: calls.map((callId) => ({ callId, tool: "Bash", input: { command: `run ${callId}` } })),
  model: "script/s",
  stopReason: calls.length > 0 ? "toolUse" : "stop",
  usage: noUsage,
  retries: [],
});

describe("what a run did, folded from its transcript,", () => {
  const items: TranscriptItem[] = [
    { kind: "attempt", runId: "task-1", attempt: 1, atMs: 0 },
    { ...said("of another's"), atMs: 5 },
    { kind: "attempt", runId: "task-2", attempt: 1, atMs: 1000, worker: "7@here" },
    { kind: "user", text: "do it", atMs: 1100 },
    { ...said("first", "a", "b", "c"), atMs: 3000 },
    { kind: "tool-start", callId: "a", atMs: 3100 },
    { kind: "tool-end", callId: "a", tool: "Bash", outcome: "ok", durationMs: 1500, atMs: 4700, text: "" },
    { kind: "tool-end", callId: "b", tool: "Bash", outcome: "denied", atMs: 4800, text: "" },
    {
      kind: "attempt",
      runId: "task-2",
      attempt: 2,
      atMs: 9000,
      before: { attempt: 1, worker: "7@here", lastEventAtMs: 4800, isHandedBack: false },
    },
    { kind: "damaged", line: 9 },
  ];

  test("keeps its own runs alone, and tells each call's target, start, time and end", async () => {
    const detail = await foldTranscript(stream(items), (runId) => runId === "task-2");
    expect(detail.answers).toMatchObject([{ text: "first", calls: 3, waitedMs: 1900 }]);
    expect(detail.calls).toEqual([
      { callId: "a", tool: "Bash", target: "run a", startedAtMs: 3100, durationMs: 1500, outcome: "ok" },
      { callId: "b", tool: "Bash", target: "run b", startedAtMs: 4800, outcome: "denied" },
      { callId: "c", tool: "Bash", target: "run c", outcome: "running" },
    ]);
    expect(detail.attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(detail).toMatchObject({ lastText: "first", damagedLines: [9] });
    expect(toToolSummary(detail.calls)).toBe("Bash 3 (1.5 s, 1 denied, 1 running)");
    const lines = toChainLines("task-2", detail, [], true).map(({ text }) => text);
    expect(lines).toEqual([
      "task-2 begins on worker 7@here",
      "the model answered after 1.9 s, 3 calls: first",
      "Bash run a · ok, 1.5 s",
      "Bash run b · denied",
      "task-2: attempt 2 begins; the one before ended: worker 7@here was lost; last event at 00:00:04",
    ]);
  });

  test("names an attempt once, by its own words where they are there, else by the server's", async () => {
    const detail = await foldTranscript(stream(items), (runId) => runId === "task-2");
    const toEvent = (attempt: number) =>
      ({ kind: "attempt", id: "task-2", atMs: 8990, attempt, before: "its worker process died" }) as const;
    const lines = toChainLines("task-2", detail, [toEvent(2), toEvent(3)], false).map(({ text }) => text);
    expect(lines.filter((text) => text.includes("attempt"))).toEqual([
      "task-2: attempt 3 begins; the one before ended: its worker process died",
      "task-2: attempt 2 begins; the one before ended: worker 7@here was lost; last event at 00:00:04",
    ]);
  });

  test("shows a call without an end as running only while its run does", () => {
    const call = { callId: "c", tool: "Bash", target: "\u001b[2J", outcome: "running" as const };
    expect(describeCall(call, true)).toBe("Bash \\x1b[2J · running");
    expect(describeCall(call, false)).toBe("Bash \\x1b[2J · no result");
  });
});

describe("a timeline", () => {
  test("has the time since the start and the clock's, and leaves out the middle of what is long", () => {
    const lines = Array.from({ length: 150 }, (_, index) => ({ atMs: index * 1000, text: `event ${index}` }));
    const text = toTimelineText(lines, 0, false);
    expect(text).toHaveLength(101);
    expect(text[0]).toBe("      +0.0 s  00:00:00  event 0");
    expect(text[20]?.trim()).toBe("... 50 lines left out; --full shows all");
    expect(text.at(-1)).toBe(" +2 min 29 s  00:02:29  event 149");
    expect(toTimelineText(lines, 0, true)).toHaveLength(150);
  });

  test("says each thing on one line that can't drive a terminal", () => {
    const evil = "\u001b]52;c;x\u0007\nnext \u202e";
    const texts = [
      describeHappening({ atMs: 0, kind: "message", turn: 1, prompt: evil }),
      describeHappening({ atMs: 0, kind: "fault", message: evil, times: 3 }),
      describeHappening({ atMs: 0, kind: "ended", how: "timed-out", reason: evil, by: evil }),
      describeHappening({
        atMs: 0,
        kind: "answered",
        question: "q-1",
        id: "main",
        state: "denied",
        answer: evil,
      }),
    ];
    for (const text of texts) expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(texts[2]).toMatch(/^session timed out by /);
  });
});

test("an item of a transcript is cut with a mark of how much is left out, and whole without a limit", () => {
  const item: TranscriptItem = { kind: "user", text: "x".repeat(5000) };
  const cut = toItemText(item, 2000);
  expect(cut.length).toBeLessThan(2100);
  const [, leftOut] = /\[(\d+) characters left out; --full shows all\]/.exec(cut) ?? [];
  expect(Number(leftOut) + (cut.match(/x/g)?.length ?? 0)).toBe(5000);
  expect(toItemText(item, Number.POSITIVE_INFINITY)).toContain("x".repeat(5000));
});

describe("a filter of sessions", () => {
  test("reads times back from now and as dates, and refuses what is neither", () => {
    expect(Math.abs(Date.now() - 7_200_000 - toTimeMs("2h"))).toBeLessThan(1000);
    expect(Math.abs(Date.now() - 7 * 86_400_000 - toTimeMs("7d ago"))).toBeLessThan(1000);
    expect(Math.abs(Date.now() - 60_000 - toTimeMs("1M AGO"))).toBeLessThan(1000);
    expect(toTimeMs("2026-11-30T18:00Z")).toBe(Date.UTC(2026, 10, 30, 18));
    for (const bad of ["yesterday", "2x", "", "-3h", "2026-13-01", "99999999w"])
      expect(() => toTimeMs(bad)).toThrow("Write how long ago");
  });

  test("reads statuses with commas, in any case, and names the valid ones", () => {
    expect(toStatuses("Running, timed-out")).toEqual(["open", "timed_out"]);
    expect(() => toStatuses("fine")).toThrow(/Allowed are open, closed/);
  });
});

test("the end of a turn counts in words of one and many, and names what was not allowed", () => {
  const start = { number: 1, agent: "fixer", description: "x", callKey: undefined, resumedFrom: undefined };
  const record = createDelegation({ ...start, definitionFingerprint: "", model: "m", tools: [], nowMs: 0 });
  const denials = [{ tool: "Bash", target: "rm -rf\u001b[2J", reason: "nobody is there to give it" }];
  const counts = { turns: 1, toolCalls: 1, usage: { ...noUsage, input: 1 }, attempts: 1 };
  const turn = {
    number: 1,
    prompt: "x",
    status: "completed" as const,
    startedAtMs: 0,
    endedAtMs: 5,
    answer: "",
  };
  const text = toSummaryText({
    sessionId: "s",
    turn: { ...turn, ...counts },
    delegations: [{ ...record, status: "completed", settledAtMs: 5, denials }],
    nowMs: 5,
  });
  expect(text).toMatch(/^completed after 0\.0 s: 1 turn, 1 tool call, 1 token\n/);
  expect(text).toContain("task-1 fixer: Bash rm -rf\\x1b[2J was not allowed: nobody is there to give it");
});
