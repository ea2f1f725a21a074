import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import stringWidth from "string-width";
import { createOutput } from "../../client/cli/output.ts";
import type { Snapshot } from "../../client/cli/progress.ts";
import { toProgressLines } from "../../client/cli/progress-lines.ts";
import { createPlainProgress } from "../../client/cli/progress-plain.ts";
import { createTerminalProgress } from "../../client/cli/progress-terminal.ts";
import { toSummaryText } from "../../client/cli/summary.ts";
import { toTable } from "../../client/cli/table.ts";
import { padToWidth, toTerminalLine } from "../../client/cli/terminal-width.ts";
import { createDelegation, type Delegation } from "../../core/delegation.ts";
import type { Turn } from "../../core/session.ts";
import { noUsage } from "../../core/status.ts";

const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const nasty = [
  "\u001b[2J",
  "\u001b]52;c;aGk=\u0007",
  "\r",
  "\u009b31m",
  "\u202e",
  "\u2028",
  "漢字",
  "👩‍👩‍👧",
  "e\u0301",
  "\ud800",
  "x".repeat(10_000),
];
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom(...nasty, "word", " ")).map((parts) => parts.join("")),
);

function toDelegation(number: number, description: string, agent = "explorer"): Delegation {
  return createDelegation({
    number,
    agent,
    description,
    callKey: undefined,
    resumedFrom: undefined,
    definitionFingerprint: "",
    model: "m",
    tools: [],
    nowMs: 1000,
  });
}

function toTurn(answer: string): Turn {
  return {
    number: 1,
    prompt: "p",
    status: "completed",
    startedAtMs: 1000,
    answer,
    turns: 1,
    toolCalls: 1,
    usage: noUsage,
    attempts: 1,
  };
}

function toSnapshot(delegations: Delegation[], live: Snapshot["live"] = new Map()): Snapshot {
  return {
    turn: 1,
    main: { kind: "running", attempt: 1, details: undefined },
    live,
    view: {
      sessionId: "session-1",
      input: {
        workspace: "/w",
        model: { kind: "script", file: "/s" },
        permissionMode: "ask",
        canAsk: false,
        leftovers: "abort",
        watchdog: "enforce",
        agentDirectories: [],
        projectAgents: false,
        modelAliases: {},
        limits: { idleSeconds: 300, maxDurationSeconds: 600, turnMaxDurationSeconds: 600 },
        hasSearchAttributes: false,
      },
      permissionMode: "ask",
      turns: [{ ...toTurn(""), status: "running", turns: 0 }],
      delegations,
      questions: [],
      runningCap: 10,
      isClosing: false,
      nowMs: 61_000,
    },
  };
}

describe("a line for a terminal", () => {
  test("holds no control character and is never wider than asked, whatever the text", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 200 }), (value, columns) => {
        const line = toTerminalLine(value, columns);
        expect(line).not.toMatch(controls);
        expect(stringWidth(line)).toBeLessThanOrEqual(columns);
        expect(stringWidth(padToWidth(value, columns))).toBe(columns);
      }),
    );
  });

  test("stays as it is if it fits", () => {
    expect(toTerminalLine("漢字 and text", 13)).toBe("漢字 and text");
    expect(toTerminalLine("漢字 and text", 12)).toBe("漢字 and te…");
    expect(toTerminalLine("漢字漢字", 4)).toBe("漢…");
  });
});

describe("the progress of a turn", () => {
  test("is at most one line for the main agent, ten for delegates and one for the rest", () => {
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 30 }),
        text,
        fc.integer({ min: 1, max: 120 }),
        (descriptions, agent, columns) => {
          const delegations = descriptions.map((each, index) => toDelegation(index + 1, each, agent));
          const lines = toProgressLines(toSnapshot(delegations), columns);
          expect(lines).toHaveLength(
            1 + Math.min(10, delegations.length) + (delegations.length > 10 ? 1 : 0),
          );
          for (const line of lines) {
            expect(line).not.toMatch(controls);
            expect(stringWidth(line)).toBeLessThanOrEqual(columns);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test("shows the running delegates first, and how many more there are", () => {
    const settled = Array.from({ length: 8 }, (_, index) => ({
      ...toDelegation(index + 1, "done"),
      status: "completed" as const,
      settledAtMs: 2000,
    }));
    const running = Array.from({ length: 5 }, (_, index) => toDelegation(index + 9, "busy"));
    const lines = toProgressLines(toSnapshot([...settled, ...running]), 100);
    expect(lines.map((line) => line.trim().split(" ")[0])).toEqual([
      "main",
      ...["task-9", "task-10", "task-11", "task-12", "task-13"],
      ...["task-8", "task-7", "task-6", "task-5", "task-4"],
      "and",
    ]);
    expect(lines.at(-1)).toBe("  and 3 more");
  });

  test("has words of its own for every state of a delegate", () => {
    const states: Snapshot["live"] = new Map([
      ["task-1", { kind: "queued" }],
      ["task-2", { kind: "running", attempt: 1, details: undefined }],
      ["task-3", { kind: "worker-lost", sinceMs: 0, details: undefined }],
      ["task-4", { kind: "stopping", details: undefined }],
      ["task-5", { kind: "unknown", reason: "server unreachable" }],
    ]);
    const delegations = [1, 2, 3, 4, 5, 6].map((number) => toDelegation(number, ""));
    const activities = toProgressLines(toSnapshot(delegations, states), 100)
      .slice(1)
      .map((line) => line.split(" · ")[2]);
    expect(activities).toEqual([
      "queued: no worker has taken it yet",
      "starting",
      "worker lost since 1970-01-01T00:00:00.000Z",
      "stop requested, not yet confirmed",
      "unknown (server unreachable)",
      "no news yet",
    ]);
  });
});

describe("progress on a terminal", () => {
  test("is redrawn at most ten times a second however often it changes, and leaves nothing behind", async () => {
    const writes: string[] = [];
    const progress = createTerminalProgress({ columns: 40, write: (each: string) => writes.push(each) });
    const startedAtMs = Date.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    let updates = 0;
    const timer = setInterval(() => {
      for (let count = 0; count < 50; count += 1)
        progress.update(toSnapshot([toDelegation(1, "", `\u001b[2J${updates++}`)]));
      if (Date.now() - startedAtMs > 450) resolve();
    }, 5);
    await promise;
    clearInterval(timer);
    const redraws = writes.length;
    progress.note("a remark \u001b[2J\nof two lines");
    expect(writes.pop()).toContain("\u001b[2A\ra remark \\x1b[2J\u001b[K\nof two lines\u001b[K\n");
    progress.end();
    expect(redraws).toBeGreaterThan(1);
    expect(redraws).toBeLessThanOrEqual(Math.ceil((Date.now() - startedAtMs) / 100) + 1);
    // Nothing but the cursor's own movements and erasures is written besides the text.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    for (const each of writes) expect(each.replace(/\u001b\[(\d+A|K|J)|[\r\n]/g, "")).not.toMatch(controls);
    expect(writes.at(-1)).toBe("\u001b[2A\r\u001b[J");
    progress.update(toSnapshot([]));
    progress.note("too late");
    expect(writes).toHaveLength(redraws + 1);
  });
});

describe("progress in a pipe", () => {
  test("tells once what began, changed and ended, and gives a sign of life in between", () => {
    let nowMs = 0;
    const lines: string[] = [];
    const stderr = { write: (line: string) => lines.push(line.trimEnd()) };
    const output = createOutput({ isJson: false, stdout: { write: () => undefined }, stderr });
    const progress = createPlainProgress(output, () => nowMs);
    const running = toDelegation(1, "counts \u001b[2J");
    const live: Snapshot["live"] = new Map([["task-1", { kind: "running", attempt: 1, details: undefined }]]);
    progress.update(toSnapshot([running], live));
    progress.update(toSnapshot([running], live));
    nowMs = 31_000;
    progress.update(toSnapshot([running], live));
    progress.update(
      toSnapshot([running], new Map([["task-1", { kind: "worker-lost", sinceMs: 0, details: undefined }]])),
    );
    progress.update(toSnapshot([{ ...running, status: "completed", settledAtMs: 5000, turns: 1 }]));
    progress.update(toSnapshot([{ ...running, status: "completed", settledAtMs: 5000, turns: 1 }]));
    expect(lines).toEqual([
      "task-1 explorer started: counts \\x1b[2J",
      "still running; task-1 starting",
      "task-1 explorer: worker lost since 1970-01-01T00:00:00.000Z",
      "task-1 explorer completed after 4.0 s, 1 turn, 0 tool calls",
    ]);
  });
});

describe("what is written at the end", () => {
  test("can't drive a terminal: not as text, not as a table, not as JSON", () => {
    fc.assert(
      fc.property(text, (value) => {
        const written: string[] = [];
        const stream = { write: (each: string) => written.push(each) };
        const people = createOutput({ isJson: false, stdout: stream, stderr: stream });
        const delegation = {
          ...toDelegation(1, value, value),
          status: "completed" as const,
          settledAtMs: 2000,
        };
        const summary = { sessionId: "s", turn: toTurn(value), delegations: [delegation], nowMs: 3000 };
        people.say(toSummaryText(summary));
        people.print(value);
        people.fail({ code: "X", message: value, exitCode: 1 }, value);
        people.print(toTable([[value, value], [value]]));
        const programs = createOutput({ isJson: true, stdout: stream, stderr: stream });
        programs.event({ type: "result", value });
        expect(written.join("").replace(/[\n\t]/g, "")).not.toMatch(controls);
        expect(JSON.parse(written.at(-1) ?? "")).toEqual({ type: "result", value: value });
      }),
    );
  });
});
