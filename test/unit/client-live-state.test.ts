import { describe, expect, test } from "@jest/globals";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import { defaultPayloadConverter, type LoadedDataConverter, type PayloadCodec } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { toLiveState } from "../../client/live-state.ts";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import { noUsage } from "../../core/status.ts";

const states = temporal.api.enums.v1.PendingActivityState;
type Activity = temporal.api.workflow.v1.IPendingActivityInfo;

/** Turns every byte round, so that details are unreadable without it. */
const codec: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map((payload) => ({ ...payload, data: payload.data?.map((byte) => byte ^ 255) ?? null })),
  decode: async (payloads) => await codec.encode(payloads),
};

const details: AgentRunDetails = {
  attempt: 1,
  phase: "tool",
  turns: 1,
  toolCalls: 2,
  startedAtMs: 0,
  lastEventAtMs: 0,
  usage: noUsage,
  partialReport: "so far",
  denials: [],
  journalLines: 0,
  losses: 0,
  turnsAtStart: 0,
  handedBack: false,
  worker: "1@host",
};

async function look(
  activity: Activity | undefined,
  options: { nowMs?: number; status?: string; codecs?: PayloadCodec[] } = {},
) {
  const converter = {
    payloadConverter: defaultPayloadConverter,
    payloadCodecs: options.codecs ?? [],
  } as unknown as LoadedDataConverter;
  const description = {
    status: { name: options.status ?? "RUNNING" },
    raw: { pendingActivities: activity === undefined ? [] : [activity] },
  } as unknown as WorkflowExecutionDescription;
  return await toLiveState(description, converter, options.nowMs ?? 100_000);
}

function beat(value: unknown, seconds: number): Activity {
  const payload = defaultPayloadConverter.toPayload(value);
  return {
    heartbeatDetails: { payloads: [payload] },
    lastHeartbeatTime: { seconds: seconds as unknown as Long },
  };
}
type Long = NonNullable<NonNullable<Activity["lastHeartbeatTime"]>["seconds"]>;

describe("what a delegate is doing", () => {
  test("is queued until a worker has taken it", async () => {
    expect(await look(undefined)).toEqual({ kind: "queued" });
    expect(await look({ state: states.PENDING_ACTIVITY_STATE_SCHEDULED, attempt: 1 })).toEqual({
      kind: "queued",
    });
  });

  test("is running with what its worker told, once that is this attempt's own word", async () => {
    const started = { state: states.PENDING_ACTIVITY_STATE_STARTED };
    expect(await look({ ...started, attempt: 1 })).toEqual({
      kind: "running",
      attempt: 1,
      details: undefined,
    });
    expect(await look({ ...started, attempt: 1, ...beat(details, 99) })).toEqual({
      kind: "running",
      attempt: 1,
      details,
    });
    expect(await look({ ...started, attempt: 2, ...beat(details, 99) })).toEqual({
      kind: "running",
      attempt: 2,
      details: undefined,
    });
  });

  test("is read through the client's codecs", async () => {
    const encoded = await codec.encode(beat(details, 99).heartbeatDetails?.payloads ?? []);
    const activity = {
      state: states.PENDING_ACTIVITY_STATE_STARTED,
      attempt: 1,
      heartbeatDetails: { payloads: encoded },
    };
    expect(await look(activity, { codecs: [codec] })).toMatchObject({ details: { partialReport: "so far" } });
    expect(await look(activity)).toEqual({ kind: "running", attempt: 1, details: undefined });
  });

  test("is a lost worker while the next attempt waits for one, since the last sign of life", async () => {
    const waiting = { state: states.PENDING_ACTIVITY_STATE_SCHEDULED, attempt: 2 };
    expect(await look({ ...waiting, ...beat(details, 42) })).toEqual({
      kind: "worker-lost",
      sinceMs: 42_000,
      details,
    });
    const lastStartedTime = { seconds: 7 as unknown as Long, nanos: 500_000_000 };
    expect(await look({ ...waiting, lastStartedTime })).toEqual({
      kind: "worker-lost",
      sinceMs: 7500,
      details: undefined,
    });
    expect(await look(waiting)).toEqual({ kind: "worker-lost", sinceMs: undefined, details: undefined });
  });

  test("is handed back, and no loss, where the worker said so as it was shut down", async () => {
    const waiting = { state: states.PENDING_ACTIVITY_STATE_SCHEDULED, attempt: 2 };
    const handedBack = { ...details, attempt: 1, handedBack: true };
    expect(await look({ ...waiting, ...beat(handedBack, 42) })).toEqual({
      kind: "handed-back",
      details: handedBack,
    });
    // The attempt after that one was lost without a word.
    expect(await look({ ...waiting, attempt: 3, ...beat(handedBack, 42) })).toMatchObject({
      kind: "worker-lost",
    });
  });

  test("is a lost worker where one that must beat has fallen silent, and never where only the model is", async () => {
    const started = { state: states.PENDING_ACTIVITY_STATE_STARTED, attempt: 1 };
    const inTool = { ...started, ...beat(details, 10) };
    expect(await look(inTool, { nowMs: 60_000 })).toMatchObject({ kind: "running" });
    expect(await look(inTool, { nowMs: 80_000 })).toMatchObject({ kind: "worker-lost", sinceMs: 10_000 });
    for (const phase of ["model", "backoff"] as const) {
      const silent = { ...started, ...beat({ ...details, phase }, 10) };
      expect(await look(silent, { nowMs: 300_000 })).toMatchObject({ kind: "running" });
    }
  });

  test("is stopping, paused or unknown in words of its own", async () => {
    const of = (state: number) => look({ state, attempt: 1, ...beat(details, 99) });
    expect(await of(states.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED)).toEqual({ kind: "stopping", details });
    expect(await of(states.PENDING_ACTIVITY_STATE_PAUSED)).toMatchObject({
      kind: "unknown",
      reason: expect.stringContaining("paused"),
    });
    expect(await of(99)).toMatchObject({ kind: "unknown", reason: expect.stringContaining("state 99") });
    expect(await look(undefined, { status: "TERMINATED" })).toEqual({
      kind: "unknown",
      reason: "its workflow is terminated",
    });
  });
});
