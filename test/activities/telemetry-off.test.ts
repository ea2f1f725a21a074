// Tier: no server. Real agent runs and their threads, with tracing and without; what passes between the threads is listened to.
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { trace } from "@opentelemetry/api";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import type { ToMain } from "../../activities/thread/protocol.ts";
import { runOne } from "../support/one-run.ts";

interface Heard {
  message: ToMain;
  atMs: number;
}

let heard: Heard[] = [];

beforeEach(() => {
  heard = [];
  const { emit } = Worker.prototype;
  // Listened to, and passed on as it is.
  jest.spyOn(Worker.prototype, "emit").mockImplementation(function (this: Worker, event, ...values) {
    if (event === "message") heard.push({ message: values[0], atMs: Date.now() });
    return emit.call(this, event, ...values);
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  trace.disable();
});

const isTelemetry = ({ message }: Heard) =>
  message.type === "answered" || (message.type === "request" && message.name === "request");

function turnOn(): void {
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [] }));
}

describe("the threads of a run", () => {
  const script = [{ calls: [{ tool: "Bash", input: { command: "true" } }] }, { text: "Done." }];

  test("tell each other nothing for telemetry where nothing is traced", async () => {
    expect((await runOne({ script })).outcome.status).toBe("completed");
    expect(heard.length).toBeGreaterThan(5);
    expect(heard.filter(isTelemetry)).toEqual([]);
  });

  test("ask before each request and tell of its end where something is", async () => {
    turnOn();
    expect((await runOne({ script })).outcome.status).toBe("completed");
    expect(heard.filter(isTelemetry).map(({ message }) => message.type)).toEqual([
      ...["request", "answered"],
      ...["request", "answered"],
    ]);
  });
});

const WINDOW_MS = 6_000;

describe.each([
  ["off", () => undefined],
  ["on", turnOn],
])("with tracing %s", (state, prepare) => {
  test("a retry that stays silent ends its run a window after the last event: that it began is none", async () => {
    prepare();
    // Refused after three seconds and asked again after one or two more; the second answer would begin three seconds later.
    const error = { status: 529, message: "overloaded", times: 1 };
    const { outcome, beats } = await runOne({
      script: [{ delaySeconds: 3, error, text: "Never said" }],
      idleSeconds: WINDOW_MS / 1000,
    });
    expect(outcome.error?.code).toBe("IDLE_TIMEOUT");
    // The end is told by the beat with which the attempt begins to put its things away; what the thread says as it is stopped comes after that.
    const saving = beats.find(({ phase }) => phase === "saving");
    const lastEventAtMs = saving?.lastEventAtMs ?? 0;
    const endedAtMs = saving?.toldAtMs ?? 0;
    expect(endedAtMs - lastEventAtMs).toBeGreaterThanOrEqual(WINDOW_MS - 100);
    expect(endedAtMs - lastEventAtMs).toBeLessThan(WINDOW_MS + 1_500);
    // The end of the second request is told as the thread ends.
    const tries = heard.filter(isTelemetry).slice(0, 3);
    expect(tries.map(({ message }) => message.type)).toEqual(
      state === "on" ? ["request", "answered", "request"] : [],
    );
    if (state === "on") expect((tries[2]?.atMs ?? 0) - lastEventAtMs).toBeGreaterThan(3_900);
  });
});
