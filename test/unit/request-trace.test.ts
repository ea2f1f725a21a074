// Tier: no server. A model that breaks its contract, as the tracing of requests meets it.
import { expect, test } from "@jest/globals";
import type { ModelRuntime } from "../../activities/models/runtime.ts";
import type { RequestEnding } from "../../activities/thread/protocol.ts";
import { withRequestTrace } from "../../activities/thread/request-trace.ts";

type Stream = Awaited<ReturnType<ModelRuntime["streamFn"]>>;

async function ask(stream: () => Promise<Stream>, signal?: AbortSignal) {
  const told: (RequestEnding | "begun")[] = [];
  const broken = { streamFn: stream } as unknown as ModelRuntime;
  const { streamFn } = withRequestTrace(broken, {
    begin: async () => void told.push("begun"),
    end: (ending) => void told.push(ending),
  });
  const options = signal === undefined ? {} : { signal };
  const answer = await Promise.resolve(streamFn({} as never, {} as never, options))
    .then((found) => found.result())
    .catch((error: Error) => error.message);
  return { told, answer };
}

const failed = { stopReason: "error", code: "INTERNAL" };

test("a request that is rejected before it streams has ended, and the loop meets the rejection", async () => {
  const { told, answer } = await ask(() => Promise.reject(new Error("no stream")));
  expect(told).toEqual(["begun", expect.objectContaining(failed)]);
  expect(answer).toBe("no stream");
});

test("a stream that is rejected has ended", async () => {
  const stream = { result: () => Promise.reject(new Error("cut")) } as unknown as Stream;
  const { told, answer } = await ask(async () => stream);
  expect(told).toEqual(["begun", expect.objectContaining(failed)]);
  expect(answer).toBe("cut");
});

test("a request that was aborted is no error", async () => {
  const { told } = await ask(() => Promise.reject(new Error("aborted")), AbortSignal.abort());
  expect(told.at(-1)).toMatchObject({ stopReason: "aborted" });
  expect(told.at(-1)).not.toHaveProperty("code");
});
