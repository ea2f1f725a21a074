// Tier: no server. Recorded histories of every kind of ending, read as a story.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { type Fact, toFacts } from "../../client/story/facts.ts";
import { foldSession, type SessionRecords } from "../../client/story/fold-session.ts";

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
