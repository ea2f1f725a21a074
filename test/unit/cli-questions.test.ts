import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import stringWidth from "string-width";
import { type LineInput, typeInto } from "../../client/cli/line-input.ts";
import { createToCommand } from "../../client/cli/own-command.ts";
import { createQuestionPrompt } from "../../client/cli/question-prompt.ts";
import { createQuestionTeller, toAnswerer } from "../../client/cli/questions.ts";
import { toTailLine, toTerminalLines } from "../../client/cli/terminal-width.ts";
import type { PermissionAnswer, PermissionQuestionRecord } from "../../core/permission-questions.ts";
import { waitUntil } from "../cli/wait-until.ts";

const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        "\u001b[2J",
        "\u001b]52;c;aGk=\u0007",
        "\r\n",
        "\u202e",
        "漢字",
        "\ud800",
        "x".repeat(500),
        " ",
      ),
    )
    .map((parts) => parts.join("")),
);
const room = { columns: 100, rows: 30 };

function toQuestion(id: string, change: Partial<PermissionQuestionRecord> = {}): PermissionQuestionRecord {
  return {
    id,
    key: id,
    chain: "task-1",
    agent: "fixer",
    tool: "Bash",
    target: "npm test",
    arguments: '{"command":"npm test"}',
    scope: "inherit",
    reason: "mode ask",
    state: "open",
    askedAtMs: 0,
    ...change,
  };
}

/** A prompt and the person in front of it. */
function createDesk() {
  const notes: string[] = [];
  const answers: PermissionAnswer[] = [];
  const desk = { notes, answers, press: (_: string) => {}, isListening: false, interrupts: 0, refuse: false };
  const prompt = createQuestionPrompt({
    sessionId: "session-1",
    by: "me@here",
    screen: { drawSoon: () => undefined, note: (note) => notes.push(note) },
    keyboard: {
      listen(onKeys) {
        Object.assign(desk, { press: onKeys, isListening: true });
        return () => Object.assign(desk, { isListening: false });
      },
    },
    answer: async (answer) => {
      answers.push(answer);
      if (desk.refuse) throw new Error("no server");
      const state = answer.verdict === "allow" ? "allowed" : "denied";
      return { question: toQuestion(answer.questionId, { state, by: answer.by }), hasTakenEffect: true };
    },
    toCommand: createToCommand(["run", "x", "--profile", "p"], {}),
    interrupt: () => {
      desk.interrupts += 1;
    },
  });
  const untilReady = () => waitUntil(() => prompt.toLines(room).at(-1)?.startsWith("y allow") ?? false);
  return { desk, prompt, untilReady };
}

describe("the prompt", () => {
  test("takes no key before its question could be read, none that is pasted, and none that means nothing", async () => {
    const { desk, prompt, untilReady } = createDesk();
    prompt.update([toQuestion("q-1"), toQuestion("q-2")]);
    desk.press("y");
    await untilReady();
    for (const keys of ["yes", "x", "\u001b[A", "\r", " "]) desk.press(keys);
    expect(desk.answers).toEqual([]);
    desk.press("y");
    desk.press("y");
    expect(desk.answers).toEqual([{ questionId: "q-1", verdict: "allow", by: "me@here" }]);
    await untilReady();
    desk.press("s");
    expect(desk.answers.at(-1)).toMatchObject({ questionId: "q-2", forSession: true });
    expect(prompt.toLines(room)).toEqual([]);
    expect(desk.isListening).toBe(false);
  });

  test("does not take what is typed as a reason for an answer to the question that follows", async () => {
    const { desk, prompt, untilReady } = createDesk();
    prompt.update([toQuestion("q-1"), toQuestion("q-2")]);
    await untilReady();
    desk.press("n");
    desk.press("wh");
    prompt.update([toQuestion("q-1", { state: "allowed", by: "other@there" }), toQuestion("q-2")]);
    for (const key of "y not y") desk.press(key);
    expect(desk.answers).toEqual([]);
    expect(desk.notes).toEqual(["q-1 was settled elsewhere: allowed by other@there"]);
    await untilReady();
    desk.press("n");
    desk.press("\u001b");
    expect(prompt.toLines(room).at(-1)).toMatch(/^y allow/);
    desk.press("n");
    desk.press("\r");
    expect(desk.answers).toEqual([{ questionId: "q-2", verdict: "deny", by: "me@here" }]);
  });

  test("asks again what could not be answered, and leaves the keyboard at Ctrl-C", async () => {
    const { desk, prompt, untilReady } = createDesk();
    desk.refuse = true;
    prompt.update([toQuestion("q-1")]);
    await untilReady();
    desk.press("y");
    prompt.update([toQuestion("q-1")]);
    expect(prompt.toLines(room)).toEqual([]);
    await waitUntil(() => desk.notes.includes("q-1 could not be answered: no server"));
    prompt.update([toQuestion("q-1")]);
    await untilReady();
    desk.press("\u0003");
    expect(desk).toMatchObject({ isListening: false, interrupts: 1 });
    expect(prompt.toLines(room)).toEqual([]);
  });

  test("is bounded, can't drive the terminal, and says where all of it is if something is cut", () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.integer({ min: 12, max: 120 }),
        fc.integer({ min: 5, max: 40 }),
        (target, input, columns, rows) => {
          const { prompt } = createDesk();
          prompt.update([toQuestion("q-1", { target, arguments: input, agent: target })]);
          const lines = prompt.toLines({ columns, rows });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines.filter((each) => each.startsWith("    "))) {
            expect(line).not.toMatch(controls);
            expect(stringWidth(line)).toBeLessThanOrEqual(columns);
          }
          prompt.end();
        },
      ),
      { numRuns: 100 },
    );
    const { prompt } = createDesk();
    prompt.update([toQuestion("q-1", { arguments: "x".repeat(4000) })]);
    const lines = prompt.toLines(room);
    expect(lines).toHaveLength(3 + 1 + 8);
    expect(lines[1]).toContain("subagents show session-1 q-1 --profile p");
    expect(lines.at(-2)).toBe(`    [${4000 - 7 * 96} more characters]`);
    prompt.end();
  });
});

describe("lines of a terminal", () => {
  test("hold all of a text or say how much is missing", () => {
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 10 }),
        (value, columns, count) => {
          const lines = toTerminalLines(value, columns, count);
          expect(lines.length).toBeLessThanOrEqual(count);
          const tail = toTailLine(value, columns);
          for (const line of [...lines, tail]) {
            expect(line).not.toMatch(controls);
            expect(stringWidth(line)).toBeLessThanOrEqual(columns);
          }
        },
      ),
    );
    expect(toTerminalLines("one\ntwo", 5, 9)).toEqual(["one\\x", "0atwo"]);
    expect(toTailLine("a long way\nto go", 7)).toBe("… to go");
    expect(toTailLine("short", 7)).toBe("short");
  });

  test("are typed into as in any shell", () => {
    const type = (...pieces: string[]) =>
      pieces.reduce<LineInput>((line, keys) => typeInto(line, keys), { text: "", state: "typing" });
    expect(type("no", "pe\u007f\b", "t \u001b[C👩‍👩‍👧\u007fnow", "\r")).toEqual({
      text: "not now",
      state: "done",
    });
    expect(type("x\u0015\u001b[200~pasted\u001b[201~")).toEqual({ text: "pasted", state: "typing" });
    expect(type("x", "\u001b")).toMatchObject({ state: "given-up" });
    expect(type("x".repeat(9000)).text.length).toBeLessThanOrEqual(500);
  });
});

test("questions are told once, with the command that answers them, and how they were settled", () => {
  const told: string[] = [];
  const tell = createQuestionTeller("session-1", true, (line, event) => told.push(`${event.state} ${line}`));
  tell([toQuestion("q-1", { target: "a\u001b[2J" }), toQuestion("q-0", { state: "denied" })]);
  tell([toQuestion("q-1")]);
  tell([toQuestion("q-1", { state: "denied", by: "me@here", answer: "no" })]);
  tell([toQuestion("q-1", { state: "denied", by: "me@here", answer: "no" })]);
  expect(told).toEqual([
    "open q-1: task-1 fixer asks to run Bash a\\x1b[2J · subagents approve session-1 q-1 (or deny)",
    "denied q-1: denied by me@here: no",
  ]);
  expect(toAnswerer({})).toMatch(/^[^@]+@[^@]+$/);
});
