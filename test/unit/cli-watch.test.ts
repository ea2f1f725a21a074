import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import stringWidth from "string-width";
import { createOutput } from "../../client/cli/output.ts";
import { createWatchDisplay } from "../../client/cli/watch-display.ts";
import { toWatchLines } from "../../client/cli/watch-lines.ts";
import { toWatchRows } from "../../client/cli/watch-row.ts";
import type { LiveState } from "../../core/activity-text.ts";
import type { PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { waitUntil } from "../cli/wait-until.ts";
import { running, toDelegation, toPicture, toWatched } from "../support/watch-picture.ts";

const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const room = { columns: 200, rows: 40 };

describe("what watch shows of an agent", () => {
  test("is one line with everything, and one with what it is for and what it is saying", () => {
    const tool = { name: "Bash", target: "npm test", sinceMs: 51_000 };
    const live = new Map([["task-1", running({ phase: "tool", tool })]]);
    const picture = toPicture(toWatched([toDelegation(1)], live));
    expect(toWatchLines(picture, { ...room, columns: 100 })).toEqual([
      "session-1 · open",
      "                                                          time  event  turns  tools  tokens     cost",
      "main agent · no news yet                                  1:00             0      0   12.3k  $0.0123",
      "    go",
      "task-1 fixer · running Bash npm test                      1:00     3s      3      4   12.3k  $0.0123",
      "    part 1 · I am saying this",
    ]);
  });

  test("loses neither figures nor what it is doing where there is little room: figures that don't fit go below", () => {
    const tool = { name: "Bash", target: "x".repeat(300), sinceMs: 51_000 };
    const live = new Map([["task-1", running({ phase: "tool", tool, partialReport: "y".repeat(300) })]]);
    const lines = (columns: number) => {
      const picture = toPicture(toWatched([toDelegation(1, { description: "z".repeat(300) })], live));
      return toWatchLines(picture, { ...room, columns }).slice(-2);
    };
    expect(lines(120)[0]).toMatch(
      /^task-1 fixer · running Bash x+… {2}1:00 {5}3s {6}3 {6}4 {3}12\.3k {2}\$0\.0123$/,
    );
    const [line, words] = lines(80);
    expect(line).toMatch(/^task-1 fixer · running Bash x+… {2}1:00 {5}3s {6}3 {6}4$/);
    expect(words).toMatch(/^ {4}12\.3k tokens, \$0\.0123 · z+… · …y+$/);
    const [narrow, below] = lines(40);
    expect(narrow).toMatch(/^task-1 fixer · running Bash x+…$/);
    expect(below).toMatch(/^ {4}1:00, last event 3s ago, 3 turns, /);
  });

  test("says how the oldest open question is answered", () => {
    const question = {
      id: "q-3",
      chain: "task-1",
      agent: "fixer",
      state: "open" as const,
      tool: "Bash" as const,
    };
    const later = { ...question, id: "q-4", target: "rm y" };
    const picture = toPicture(
      toWatched([toDelegation(1)], new Map(), [{ ...question, target: "rm x" }, later]),
    );
    expect(toWatchLines(picture, { ...room, columns: 80 }).slice(-3)).toEqual([
      "q-3: task-1 fixer asks to run Bash rm x",
      "q-4: task-1 fixer asks to run Bash rm y",
      "    subagents approve session-1 q-3",
    ]);
  });

  test("of a session that is over waits for nothing", () => {
    const watched = toWatched([]);
    const turns = watched.view?.turns.map((turn) => ({ ...turn, status: "failed" as const })) ?? [];
    const over = { ...watched, isOpen: false, view: { ...watched.view, turns } as typeof watched.view };
    expect(toWatchRows(over)[0]?.activity).toBe("its session is over; turn 1 failed");
  });

  test("has words of its own for every state", () => {
    const question = {
      id: "q-3",
      chain: "task-6",
      state: "open" as const,
      tool: "Bash" as const,
      target: "rm x",
    };
    const live = new Map<string, LiveState>([
      ["main", running()],
      ["task-1", { kind: "queued" }],
      ["task-2", { kind: "worker-lost", sinceMs: 0, details: undefined }],
      ["task-3", running({ phase: "backoff", backoff: { nextTry: 3, untilMs: 0 } })],
      ["task-4", running()],
      ["task-5", { kind: "unknown", reason: "server unreachable" }],
      ["task-6", running()],
    ]);
    const delegations = [1, 2, 3, 4, 5, 6].map((number) =>
      toDelegation(number, number === 4 ? { stopRequested: "stopped" } : {}),
    );
    const settled = toDelegation(7, {
      status: "failed",
      error: { code: "PROVIDER_AUTH", message: "no" },
      settledAtMs: 5000,
    });
    const rows = toWatchRows(toWatched([...delegations, settled], live, [question]));
    expect(rows.map(({ id, activity }) => `${id}: ${activity}`)).toEqual([
      "main: waiting for the model, last event 3s ago",
      "task-1: queued: no worker has taken it yet",
      "task-2: worker lost since 1970-01-01T00:00:00.000Z",
      "task-3: waiting for provider, try 3, last event 3s ago",
      "task-4: stop requested, not yet confirmed",
      "task-5: unknown (server unreachable)",
      "task-6: asks permission (q-3): Bash rm x",
      "task-7: failed (PROVIDER_AUTH)",
    ]);
  });

  test("is the main agent alone as long as nobody has told of the session", () => {
    const rows = toWatchRows({ isOpen: true, view: undefined, live: new Map(), nowMs: 2000 });
    expect(rows).toMatchObject([{ id: "main", activity: "no news yet" }]);
  });
});

describe("the screen of watch", () => {
  test("shows ten delegates, the running ones first, and counts the rest; everyone's line comes before anybody's words", () => {
    const settled = Array.from({ length: 300 }, (_, index) =>
      toDelegation(index + 1, { status: "completed", settledAtMs: index }),
    );
    const busy = Array.from({ length: 5 }, (_, index) => toDelegation(index + 301));
    const live = new Map(busy.map(({ id }) => [id, running()]));
    const picture = toPicture(toWatched([...settled, ...busy], live));
    const lines = toWatchLines(picture, room);
    expect(lines.map((line) => line.trim().split(" ")[0])).toEqual([
      "session-1",
      "time",
      ...["main", "go"],
      ...["301", "302", "303", "304", "305"].flatMap((number) => [`task-${number}`, "part"]),
      ...["300", "299", "298", "297", "296"].flatMap((number) => [`task-${number}`, "part"]),
      "+",
    ]);
    expect(lines.at(-1)).toBe("  + 295 more");
    const low = toWatchLines(picture, { columns: 80, rows: 15 });
    expect(low).toHaveLength(15);
    expect(low.filter((line) => line.includes("task-"))).toHaveLength(10);
    expect(low.filter((line) => line.startsWith("    "))).toHaveLength(2);
    expect(toWatchLines(picture, { columns: 80, rows: 4 })).toHaveLength(4);
  });

  test("can't be driven by anything that a model, a file or a person has written", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(
          fc.constantFrom(
            "\u001b[2J",
            "\u001b]52;c;aGk=\u0007",
            "\r",
            "\u202e",
            "\u2028",
            "漢字",
            "\ud800",
            "x".repeat(9000),
          ),
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, text, text, fc.integer({ min: 1, max: 120 }), (one, two, three, columns) => {
        const tool = { name: one, target: two, sinceMs: 0 };
        const live = new Map([["task-1", running({ phase: "tool", tool, partialReport: three })]]);
        const question = {
          id: "q-1",
          chain: "task-2",
          agent: one,
          state: "open" as const,
          tool: "Bash" as const,
          target: two,
        };
        const delegations = [toDelegation(1, { agent: one, description: three }), toDelegation(2)];
        const picture = { ...toPicture(toWatched(delegations, live, [question]), two), notice: three };
        for (const line of toWatchLines(picture, { columns, rows: 40 })) {
          expect(line).not.toMatch(controls);
          expect(stringWidth(line)).toBeLessThanOrEqual(columns);
        }
        const written: string[] = [];
        const stream = { write: (each: string) => written.push(each) };
        for (const isJson of [true, false]) {
          const output = createOutput({ isJson, stdout: stream, stderr: stream });
          const display = createWatchDisplay(output);
          const whole = {
            ...question,
            arguments: three,
            reason: one,
            askedAtMs: 0,
          } as PermissionQuestionRecord;
          display.show(() => ({ ...picture, questions: [whole] }));
          display.end();
        }
        expect(written.join("").replaceAll("\n", "")).not.toMatch(controls);
      }),
      { numRuns: 50 },
    );
  });

  test("is drawn at most ten times a second, and not at all while nothing changes", async () => {
    const writes: string[] = [];
    const stream = { isTTY: true, columns: 80, rows: 24, write: (each: string) => writes.push(each) };
    const display = createWatchDisplay(createOutput({ isJson: false, stdout: stream, stderr: stream }));
    let count = 0;
    let looks = 0;
    const show = () =>
      display.show(() => {
        looks += 1;
        return toPicture(toWatched([]), `${count}`);
      });
    const startedAtMs = Date.now();
    await waitUntil(() => {
      count += 1;
      for (let each = 0; each < 50; each += 1) show();
      return Date.now() - startedAtMs > 500;
    });
    const most = (Date.now() - startedAtMs) / 100 + 1;
    expect(writes.length).toBeGreaterThan(1);
    expect(writes.length).toBeLessThanOrEqual(most);
    await waitUntil(() => writes.at(-1)?.startsWith(`\u001b[4A\r${count}`) ?? false);
    const [drawn, seen] = [writes.length, looks];
    await waitUntil(() => {
      show();
      return looks > seen + 2;
    });
    expect(writes).toHaveLength(drawn);
    display.end();
  });
});
