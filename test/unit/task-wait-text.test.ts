// Tier: no server.
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { LiveState } from "../../core/activity-text.ts";
import { createDelegation, type Delegation } from "../../core/delegation.ts";
import { MAX_REPORT_CHARACTERS, MAX_TASK_WAIT_CHARACTERS } from "../../core/limits.ts";
import type { TaskWaitAnswer } from "../../core/messages.ts";
import { shareEqually } from "../../core/share.ts";
import { boundReports, toTaskWaitText } from "../../core/task-wait.ts";

function record(number: number, changes: Partial<Delegation> = {}): Delegation {
  const created = createDelegation({
    number,
    agent: "explorer",
    description: "look around",
    callKey: undefined,
    resumedFrom: undefined,
    definitionFingerprint: "",
    model: "test/model",
    tools: ["Read"],
    nowMs: 0,
  });
  return {
    ...created,
    status: "completed",
    settledAtMs: 65_000,
    report: `report ${number}`,
    turns: 2,
    toolCalls: 3,
    ...changes,
  };
}

function answer(targets: Delegation[], changes: Partial<TaskWaitAnswer> = {}): TaskWaitAnswer {
  return {
    waitedSeconds: 0,
    isTimedOut: false,
    targets: boundReports(targets),
    reportLengths: targets.map(({ report }) => report.length),
    unknown: [],
    noLongerKept: [],
    nowMs: 100_000,
    ...changes,
  };
}

const noNews = new Map<string, LiveState>();

describe("the text of a TaskWait", () => {
  test("a wait that ran out says that it is no failure, what the unfinished do, and gives the reports it has", () => {
    const { settledAtMs: _, ...running } = record(2, { status: "running", report: "" });
    const text = toTaskWaitText(
      answer([record(1), running], { isTimedOut: true, waitedSeconds: 600 }),
      new Map([["task-2", { kind: "queued" }]]),
    );
    expect(text).toMatch(
      /^Still running after 600s: task-2\. This is not a failure: the unfinished delegates keep working/,
    );
    expect(text).toContain(
      "## task-1 · explorer · look around\nStatus: completed after 65s, 2 turns, 3 tool calls, model test/model.\nCompleted. Its report:\n\nreport 1",
    );
    expect(text).toContain("Status: running for 100s; queued: no worker has taken it yet.");
  });

  test("what happened comes before what a delegate wrote", () => {
    const failed = record(1, {
      status: "truncated",
      error: { code: "TURN_LIMIT", message: "it used up its 3 turns" },
    });
    const text = toTaskWaitText(answer([failed]), noNews);
    expect(text.indexOf("Truncated: it was cut short")).toBeLessThan(text.indexOf("report 1"));
    expect(text).toContain("TURN_LIMIT: it used up its 3 turns");
  });

  test("calls that were not allowed are named after the report", () => {
    const denials = [{ tool: "Write", target: "/etc/hosts", reason: "outside" }];
    const text = toTaskWaitText(answer([record(1, { denials })]), noNews);
    expect(text.indexOf("report 1")).toBeLessThan(
      text.indexOf("Not allowed, so not done:\n- Write /etc/hosts: outside"),
    );
  });

  test("nothing to wait for, unknown ids and ids no longer kept are said in words", () => {
    expect(toTaskWaitText(answer([]), noNews)).toMatch(/^Nothing to wait for/);
    const text = toTaskWaitText(answer([], { unknown: ["task-9\n"], noLongerKept: ["task-1"] }), noNews);
    expect(text).toBe(
      'Unknown delegation id: "task-9\\n".\ntask-1 is no longer kept: only the latest 100 settled delegations are.',
    );
  });

  test("a single report of full length is given whole", () => {
    const report = "x".repeat(MAX_REPORT_CHARACTERS);
    expect(toTaskWaitText(answer([record(1, { report })]), noNews)).toContain(report);
  });

  test("ten full reports share the room, and each cut says how to read the rest", () => {
    const targets = Array.from({ length: 10 }, (_, index) =>
      record(index + 1, { report: "é".repeat(MAX_REPORT_CHARACTERS) }),
    );
    const text = toTaskWaitText(answer(targets), noNews);
    expect(text.length).toBeLessThanOrEqual(MAX_TASK_WAIT_CHARACTERS);
    expect(text.length).toBeGreaterThan(MAX_TASK_WAIT_CHARACTERS * 0.95);
    for (const { id } of targets)
      expect(text).toContain(`TaskWait with delegationIds ["${id}"] alone shows more]`);
  });

  test("no answer is longer than 50,000 characters or splits a surrogate pair, whatever the reports", () => {
    const anyReport = fc
      .string({ unit: "binary", maxLength: 40 })
      .map((unit) => unit.repeat(400).slice(0, MAX_REPORT_CHARACTERS));
    const anyTarget = fc.record({
      report: anyReport,
      message: fc.string({ maxLength: 2000 }),
      description: fc.string({ maxLength: 200 }),
    });
    fc.assert(
      fc.property(fc.array(anyTarget, { maxLength: 110 }), (drafts) => {
        const targets = drafts.map(({ report, message, description }, index) =>
          record(index + 1, { report, description, status: "failed", error: { code: "INTERNAL", message } }),
        );
        const text = toTaskWaitText(answer(targets), noNews);
        expect(text.length).toBeLessThanOrEqual(MAX_TASK_WAIT_CHARACTERS);
        expect(text.isWellFormed()).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe("sharing equally", () => {
  test("gives each its need or an equal share, and never more than there is", () => {
    expect(shareEqually([10, 100, 1000], 300)).toEqual([10, 100, 190]);
    expect(shareEqually([5, 5], 100)).toEqual([5, 5]);
    expect(shareEqually([7], -1)).toEqual([0]);
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { maxLength: 110 }), fc.nat(60_000), (needs, budget) => {
        const shares = shareEqually(needs, budget);
        const sum = shares.reduce((total, share) => total + share, 0);
        expect(sum).toBeLessThanOrEqual(budget);
        expect(shares.every((share, index) => share <= (needs[index] ?? 0))).toBe(true);
        const total = needs.reduce((left, right) => left + right, 0);
        expect(sum).toBeGreaterThanOrEqual(Math.min(total, budget) - needs.length);
      }),
    );
  });
});
