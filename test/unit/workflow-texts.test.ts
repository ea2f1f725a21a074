// What a session's workflow writes at each of its steps, from texts that anybody may have written.
import { expect, test } from "@jest/globals";
import { createDelegation } from "../../core/delegation.ts";
import { MAX_ANSWER_CHARACTERS, MAX_REPORT_CHARACTERS } from "../../core/limits.ts";
import { type SessionInput, toInitialState, turnSchema } from "../../core/session.ts";
import { toSessionMemo } from "../../core/session-memo.ts";
import { noUsage } from "../../core/status.ts";
import { toSessionDetails } from "../../workflows/current-details.ts";

/** The server gives workflow code so long a step; no text may take a fifth of it for being odd. */
const STEP_MS = 5000;
const STEPS = 10;

const input = {
  workspace: "/work",
  model: { kind: "provider", provider: "p", id: "m" },
} as unknown as SessionInput;

function toSession(unit: string) {
  const fill = (characters: number) =>
    `a${unit.repeat(Math.ceil(characters / unit.length))}`.slice(0, characters - 1).concat("b");
  const delegations = Array.from({ length: 100 }, (_, index) => ({
    ...createDelegation({
      number: index + 1,
      agent: fill(64),
      description: fill(200),
      callKey: undefined,
      resumedFrom: undefined,
      definitionFingerprint: "",
      model: "p/m",
      tools: [],
      nowMs: 0,
    }),
    status: "failed" as const,
    error: { code: "INTERNAL" as const, message: fill(2000) },
    report: fill(MAX_REPORT_CHARACTERS),
    settledAtMs: 1000,
  }));
  const turn = turnSchema.parse({
    number: 1,
    prompt: fill(MAX_ANSWER_CHARACTERS),
    status: "completed",
    startedAtMs: 0,
    answer: fill(MAX_ANSWER_CHARACTERS),
    turns: 1,
    toolCalls: 0,
    usage: noUsage,
    attempts: 1,
  });
  return { turn, state: { ...toInitialState("auto"), delegations, lastDelegation: 100, turns: [turn] } };
}

test.each([
  "\n",
  "\n\n ",
  "\r\n",
  " ",
  "\t",
  "\u00a0",
  "<a",
  "<answer>",
  "</",
  "] ",
  "[",
  "`",
  "\\",
  "|",
  ":",
  "--",
  "..",
  "1.",
  "# ",
  "\u001b[",
  "\ud800",
  "漢",
])("of texts made of %j takes no time that a step does not have", (unit) => {
  const { turn, state } = toSession(unit);
  const startedAtMs = performance.now();
  for (let step = 0; step < STEPS; step += 1) {
    expect(toSessionDetails(input, state, 2000)).toContain("task-100");
    expect(toSessionMemo(turn, state.delegations, 2000).delegations).toHaveLength(11);
  }
  expect((performance.now() - startedAtMs) / STEPS).toBeLessThan(STEP_MS / 5);
});
