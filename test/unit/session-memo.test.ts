import { describe, expect, test } from "@jest/globals";
import { createDelegation, type Delegation } from "../../core/delegation.ts";
import type { Turn } from "../../core/session.ts";
import { toSessionMemo } from "../../core/session-memo.ts";
import { noUsage } from "../../core/status.ts";

const turn = (change: Partial<Turn> = {}): Turn => ({
  number: 3,
  prompt: "go",
  status: "completed",
  startedAtMs: 0,
  answer: "done",
  turns: 1,
  toolCalls: 0,
  usage: noUsage,
  attempts: 1,
  ...change,
});
const record = (number: number, change: Partial<Delegation> = {}): Delegation => ({
  ...createDelegation({
    number,
    agent: "explorer",
    description: "a look",
    callKey: undefined,
    resumedFrom: undefined,
    definitionFingerprint: "",
    model: "m",
    tools: [],
    nowMs: 1000,
  }),
  status: "completed",
  settledAtMs: 4000,
  report: "<answer>It is there.</answer>",
  ...change,
});

describe("a session's memo", () => {
  test("tells of each delegate its purpose, its ending with code, how long it took, and what it said", () => {
    const error = { code: "IDLE_TIMEOUT" as const, message: "no event" };
    const delegations = [record(1), record(2, { status: "timed_out", error, report: "" })];
    expect(toSessionMemo(turn(), delegations, 9000)).toEqual({
      turn: "3: completed",
      answer: "done",
      delegations: [
        "task-1 explorer: completed, 3s, a look — It is there.",
        "task-2 explorer: timed_out IDLE_TIMEOUT, 3s, a look",
      ],
    });
  });

  test.each(["文", "ж", "👩", '"', "\u0007", "W"])("stays below 2 KiB whatever is in it: %j", (character) => {
    const long = character.repeat(5000);
    const error = { code: "PROVIDER_CONTEXT_OVERFLOW" as const, message: long };
    const worst = { agent: long.slice(0, 64), description: long, report: long, error };
    const delegations = Array.from({ length: 100 }, (_, index) =>
      record(1000 + index, { ...worst, status: "timed_out" }),
    );
    const memo = toSessionMemo(turn({ answer: long, status: "timed_out", error }), delegations, 1e9);
    expect(Buffer.byteLength(JSON.stringify(memo))).toBeLessThan(2048);
    expect(memo.delegations[0]).toBe("90 earlier ones");
    expect(memo.delegations.at(-1)).toMatch(/^task-1099 .*: timed_out PROVIDER_CONTEXT_OVERFLOW, 3s, /);
  });
});
