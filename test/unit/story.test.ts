// Tier: no server. Recorded histories of every kind of ending, read as a story.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { type Fact, toFacts } from "../../client/story/facts.ts";
import { foldSession, type SessionRecords } from "../../client/story/fold-session.ts";
import { endTurnWithSession, toSettlement } from "../../client/story/settlement.ts";
import { createDelegation } from "../../core/delegation.ts";
import { noUsage } from "../../core/status.ts";

const converter = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: defaultFailureConverter,
  payloadCodecs: [],
};

async function readFacts(name: string): Promise<Fact[]> {
  const file = fileURLToPath(new URL(`../replay/histories/${name}.json`, import.meta.url));
  const history = historyFromJSON(JSON.parse(readFileSync(file, "utf8")));
  return await toFacts(history.events ?? [], converter);
}

async function readSession(name: string): Promise<SessionRecords> {
  return foldSession(await readFacts(`${name}.session`));
}

/** What the session itself wrote into its result as it was closed. */
function listOwnRecords({ end }: SessionRecords): unknown[] {
  return (end?.result as { delegations?: unknown[] } | undefined)?.delegations ?? [];
}

describe("a session's records, read from its history alone,", () => {
  test.each([
    ["completed", { status: "completed" }, undefined],
    ["truncated-turn-limit", { status: "truncated", error: { code: "TURN_LIMIT" } }, undefined],
    ["truncated-output-limit", { status: "truncated", error: { code: "OUTPUT_LIMIT" } }, undefined],
    ["timed-out-idle", { status: "timed_out", error: { code: "IDLE_TIMEOUT" } }, undefined],
    ["timed-out-ceiling", { status: "timed_out", error: { code: "DURATION_TIMEOUT" } }, undefined],
    ["timed-out-rate-limited", { status: "timed_out", error: { code: "PROVIDER_RATE_LIMITED" } }, undefined],
    ["failed-no-report", { status: "failed", error: { code: "NO_REPORT" } }, undefined],
    ["failed-provider", { status: "failed", error: { code: "PROVIDER_AUTH" } }, undefined],
    ["failed-terminated", { status: "failed", error: { code: "TERMINATED" } }, undefined],
    ["stopped", { status: "stopped", stopRequested: "stopped" }, undefined],
    ["aborted-with-its-turn", { status: "aborted", stopRequested: "aborted" }, "completed"],
    ["turn-aborted", { status: "aborted", stopRequested: "aborted" }, "aborted"],
    ["leftovers-delivered", { status: "completed" }, "completed"],
  ])("are those of the session: %s", async (name, delegation, turnStatus) => {
    const records = await readSession(name);
    const { delegations, turns } = records.state;
    expect(delegations.at(-1)).toMatchObject(delegation);
    expect(
      delegations.map(({ id, agent, description, status }) => ({ id, agent, description, status })),
    ).toEqual(listOwnRecords(records));
    expect(turns.at(-1)?.status).toBe(turnStatus);
    expect(records.tasks.get("task-1")?.prompt).not.toBe("");
    expect(records.end?.how).toBe("completed");
  });

  test.each(["traced", "waited-and-listed", "continued-as-new"])(
    "have the session's own times, to the millisecond: %s",
    async (name) => {
      const facts = await readFacts(`${name}.session`);
      const told = (key: string) =>
        [...JSON.stringify(facts).matchAll(new RegExp(`"${key}":(\\d+)`, "g"))].map(([, ms]) => Number(ms));
      const { delegations } = foldSession(facts).state;
      expect(told("startedAtMs")).toEqual(
        expect.arrayContaining(delegations.map(({ startedAtMs }) => startedAtMs)),
      );
      expect(told("settledAtMs")).toEqual(
        expect.arrayContaining(delegations.map(({ settledAtMs }) => settledAtMs)),
      );
    },
  );

  test("hold what was waited for and handed over, with its report and its times", async () => {
    const { state } = await readSession("waited-and-listed");
    const [record] = state.delegations;
    expect(record).toMatchObject({
      report: "the report",
      isHandedOver: true,
      callKey: "turn-1/0/call-1-1",
      turns: 2,
    });
    expect(record?.settledAtMs).toBeGreaterThan(record?.startedAtMs ?? Number.NaN);
    expect(state.turns).toMatchObject([{ number: 1, prompt: "go", answer: "I have it.", toolCalls: 4 }]);
  });

  test("go on from what the run before carried, and say so", async () => {
    const records = await readSession("continued-as-new");
    expect(records.hasEarlierRuns || records.end?.how === "continued").toBe(true);
    expect(records.state.delegations.length).toBeGreaterThan(0);
  });
});

describe("what is told of a session that ended from outside", () => {
  const turn = {
    number: 1,
    prompt: "go",
    status: "running" as const,
    startedAtMs: 0,
    answer: "",
    turns: 0,
    toolCalls: 0,
    usage: noUsage,
    attempts: 0,
  };
  const record = createDelegation({
    number: 1,
    agent: "explorer",
    description: "",
    callKey: undefined,
    resumedFrom: undefined,
    definitionFingerprint: "",
    model: "m",
    tools: [],
    nowMs: 0,
  });

  test.each([
    [
      "terminated",
      { status: "failed", error: { code: "TERMINATED", message: /terminated by ops: no more/ } },
    ],
    ["deleted", { status: "failed", error: { code: "TERMINATED", message: /deleted/ } }],
    ["timed-out", { status: "timed_out", error: { code: "DURATION_TIMEOUT", message: /timeout/ } }],
    ["failed", { status: "failed", error: { code: "INTERNAL", message: /no more/ } }],
    ["cancelled", { status: "aborted" }],
  ] as const)("its running turn has ended with it: %s", (how, expected) => {
    const ended = endTurnWithSession(turn, { how, atMs: 7, reason: "no more", by: "ops" });
    expect(ended).toMatchObject({ status: expected.status, endedAtMs: 7 });
    if ("error" in expected) {
      expect(ended.error?.code).toBe(expected.error.code);
      expect(ended.error?.message).toMatch(expected.error.message);
    } else expect(ended.error).toBeUndefined();
  });

  test("a turn that had ended stays as it was", () => {
    const done = { ...turn, status: "completed" as const, endedAtMs: 3 };
    expect(endTurnWithSession(done, { how: "terminated", atMs: 7, reason: "", by: "" })).toBe(done);
  });

  test("a delegate's own result wins, and what left none is told by how its workflow ended", () => {
    const result = { ...record, delegationId: "task-9", status: "completed", report: "all of it" };
    expect(toSettlement(record, "completed", result, "")).toMatchObject({
      delegationId: "task-1",
      status: "completed",
      report: "all of it",
    });
    expect(toSettlement(record, "terminated", undefined, "")).toMatchObject({
      error: { code: "TERMINATED" },
    });
    expect(toSettlement(record, "deleted", undefined, "")).toMatchObject({ error: { code: "TERMINATED" } });
    expect(toSettlement(record, "timed-out", undefined, "")).toMatchObject({ status: "timed_out" });
    expect(toSettlement(record, "cancelled", undefined, "")).toMatchObject({ status: "stopped" });
    expect(toSettlement(record, "completed", "nonsense", "")).toMatchObject({ error: { code: "INTERNAL" } });
  });

  test("a step that fails again and again is one remark", () => {
    const fault = { kind: "fault" as const, message: "Nondeterminism" };
    const { remarks } = foldSession([
      { ...fault, atMs: 1 },
      { ...fault, atMs: 2 },
      { ...fault, message: "", atMs: 3 },
    ]);
    expect(remarks).toEqual([{ ...fault, atMs: 1, times: 2 }]);
  });
});
