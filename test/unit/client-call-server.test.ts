import { describe, expect, test } from "@jest/globals";
import type { Client } from "@temporalio/client";
import { callServer } from "../../client/call-server.ts";
import { mapBounded } from "../../client/map-bounded.ts";

/** Only what a call's bounds are handed to; the calls themselves are the tests'. */
const client = {
  withDeadline: (_: number, call: () => Promise<unknown>) => call(),
  withAbortSignal: (_: AbortSignal, call: () => Promise<unknown>) => call(),
} as unknown as Client;

function grpcError(code: number, details = "details"): Error {
  return Object.assign(new Error(`${code}`), { code, details, metadata: {} });
}

/** A call that fails with these errors in turn and then answers. */
function failing(...errors: Error[]) {
  let calls = 0;
  const call = async () => {
    const error = errors[calls];
    calls += 1;
    if (error !== undefined) throw new Error("outer", { cause: error });
    return "answer";
  };
  return { call, count: () => calls };
}

describe("a call of the server", () => {
  test.each([
    ["away", 14],
    ["overloaded", 8],
    ["closing a run", 10],
    ["without a poller", 9],
    ["cut off", 1],
  ])("is made again while the server is %s", async (_, code) => {
    const { call, count } = failing(grpcError(code), grpcError(code));
    expect(await callServer(client, { patienceMs: 10_000 }, call)).toBe("answer");
    expect(count()).toBe(3);
  });

  test.each([
    ["not found", 5],
    ["a wrong argument", 3],
    ["no permission", 7],
    ["a fault that lasts", 13],
  ])("is not made again for %s", async (_, code) => {
    const { call, count } = failing(grpcError(code));
    await expect(callServer(client, { patienceMs: 10_000 }, call)).rejects.toThrow("outer");
    expect(count()).toBe(1);
  });

  test("is not made again where the server takes no more of them", async () => {
    const { call, count } = failing(
      grpcError(9, "limit on the total number of distinct updates in this workflow has been reached"),
    );
    await expect(callServer(client, { patienceMs: 10_000 }, call)).rejects.toThrow("outer");
    expect(count()).toBe(1);
  });

  test("says at the end of its patience who did not answer", async () => {
    const give = (code: number, isForWorker: boolean) =>
      callServer(client, { patienceMs: 50, isForWorker }, failing(grpcError(code)).call).catch(
        (error) => error.code,
      );
    expect(await give(14, true)).toBe("Session.Unreachable");
    expect(await give(4, true)).toBe("Session.NoWorker");
    expect(await give(9, true)).toBe("Session.NoWorker");
    expect(await give(4, false)).toBe("Session.Unreachable");
  });

  test("ends with the signal's reason, also between two tries", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const call = async () => {
      queueMicrotask(() => setTimeout(() => controller.abort(reason), 5));
      throw grpcError(14);
    };
    const startedAtMs = Date.now();
    await expect(callServer(client, { patienceMs: 60_000, signal: controller.signal }, call)).rejects.toBe(
      reason,
    );
    expect(Date.now() - startedAtMs).toBeLessThan(1000);
  });
});

describe("mapping with a bound", () => {
  test("keeps the order and the bound, and passes a failure on", async () => {
    let running = 0;
    let most = 0;
    const double = async (value: number) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20 - value));
      running -= 1;
      if (value === 99) throw new Error("ninety-nine");
      return value * 2;
    };
    expect(await mapBounded([1, 2, 3, 4, 5, 6, 7], 3, double)).toEqual([2, 4, 6, 8, 10, 12, 14]);
    expect(most).toBe(3);
    expect(await mapBounded([], 3, double)).toEqual([]);
    await expect(mapBounded([1, 99, 2], 3, double)).rejects.toThrow("ninety-nine");
  });
});
