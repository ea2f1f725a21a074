// Tier: no server.
import { expect, test } from "@jest/globals";
import { countJsonBytes, toCarriedState } from "../../core/carried-state.ts";
import { createDelegation, type Delegation, dropOldest, settleDelegation } from "../../core/delegation.ts";
import { type SessionInput, type SessionState, toInitialState } from "../../core/session.ts";
import { toSessionView } from "../../core/session-view.ts";
import { noUsage } from "../../core/status.ts";
import { boundReports } from "../../core/task-wait.ts";

const HALF_MEBIBYTE = 512 * 1024;

function full(number: number, unit: string): Delegation {
  const created = createDelegation({
    number,
    agent: "explorer",
    description: unit.repeat(200).slice(0, 200),
    callKey: `turn-1/${number}/call`,
    resumedFrom: undefined,
    definitionFingerprint: "f".repeat(100),
    model: "test/model",
    tools: ["Read"],
    nowMs: number,
  });
  const denials = Array.from({ length: 50 }, () => ({
    tool: "Write",
    target: unit.repeat(300),
    reason: unit.repeat(300),
  }));
  return {
    ...created,
    status: "failed",
    settledAtMs: number,
    report: unit.repeat(12_000).slice(0, 12_000),
    error: { code: "INTERNAL", message: unit.repeat(2000).slice(0, 2000) },
    denials,
  };
}

function state(unit: string): SessionState {
  const turns = Array.from({ length: 50 }, (_, index) => ({
    number: index + 1,
    prompt: unit.repeat(1000).slice(0, 1000),
    status: "completed" as const,
    startedAtMs: 0,
    answer: unit.repeat(100_000).slice(0, 100_000),
    turns: 1,
    toolCalls: 1,
    usage: noUsage,
    attempts: 1,
  }));
  const delegations = Array.from({ length: 100 }, (_, index) => full(index + 1, unit));
  return { ...toInitialState("ask"), delegations, lastDelegation: 100, turns, lastTurn: 50 };
}

test.each([
  ["Latin", "a"],
  ["Chinese", "漢"],
  ["Emoji", "😀"],
  ["control characters", "\u0001"],
  ["quotes", '"'],
])("100 full reports in %s are carried below 512 KiB, the none lost without a mark", (_, unit) => {
  const carried = toCarriedState(state(unit));
  expect(countJsonBytes(carried)).toBeLessThan(HALF_MEBIBYTE);
  expect(countJsonBytes(carried)).toBe(Buffer.byteLength(JSON.stringify(carried)));
  expect(JSON.parse(JSON.stringify(carried))).toEqual(carried);
  expect(carried.delegations).toHaveLength(100);
  for (const { report, reportState } of carried.delegations)
    expect(report !== "" || reportState === "away").toBe(true);
});

test("with answers of usual length the latest reports are carried whole, and the last answer of full length is too", () => {
  const usual = state("漢");
  const short = { ...usual, turns: usual.turns.map((turn) => ({ ...turn, answer: "fine" })) };
  expect(toCarriedState(short).delegations.at(-1)?.report).toHaveLength(12_000);
  expect(toCarriedState(usual).turns.at(-1)?.answer).toHaveLength(100_000);
});

test("a session's view, and a wait for all it has, stay below one megabyte at their worst", () => {
  const worst = state("\u0001");
  const settled = worst.delegations.map((record) =>
    settleDelegation(
      { ...record, status: "running" },
      { ...record, delegationId: record.id, status: "failed" },
      1,
    ),
  );
  const full = { ...worst, delegations: settled };
  const view = toSessionView({ id: "s", input: {} as SessionInput, state: full, isClosing: false }, 0);
  expect(countJsonBytes(view)).toBeLessThan(1024 * 1024);
  expect(countJsonBytes(boundReports(settled))).toBeLessThan(1024 * 1024);
});

test("a settled delegation is never changed by a later settlement", () => {
  const settlement = {
    delegationId: "task-1",
    status: "completed" as const,
    report: "first",
    turns: 1,
    toolCalls: 0,
    usage: noUsage,
    attempts: 1,
    denials: [],
    model: "m",
  };
  const settled = settleDelegation({ ...full(1, "x"), status: "running" }, settlement, 5);
  expect(settled).toMatchObject({ status: "completed", report: "first", settledAtMs: 5 });
  expect(settleDelegation(settled, { ...settlement, status: "stopped", report: "second" }, 9)).toBe(settled);
});

test("of more than 100 settled records those go that settled earliest, whatever their numbers; running ones stay", () => {
  const records: Delegation[] = Array.from({ length: 103 }, (_, index) => ({
    ...full(index + 1, "x"),
    settledAtMs: 1000 - index,
  }));
  records[102] = { ...full(103, "x"), status: "running" };
  const kept = dropOldest(records).map(({ id }) => id);
  expect(kept).toHaveLength(101);
  expect(kept).not.toContain("task-102");
  expect(kept).not.toContain("task-101");
  expect(kept).toContain("task-103");
});
