// Tier: no server. One real agent run each, with an OpenTelemetry SDK or a meter that fails.
import { afterEach, describe, expect, test } from "@jest/globals";
import { trace } from "@opentelemetry/api";
import { type SpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { type MetricMeter, noopMetricMeter } from "@temporalio/common";
import { runOne } from "../support/one-run.ts";

afterEach(() => trace.disable());

const script = [{ calls: [{ tool: "Bash", input: { command: "true" } }] }, { text: "Done." }];

const fail = (): never => {
  throw new Error("telemetry is broken");
};

function register(processor: Partial<SpanProcessor>): void {
  const quiet: SpanProcessor = {
    onStart: () => undefined,
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [{ ...quiet, ...processor }] }));
}

const toMeter = (broken: object): MetricMeter => Object.assign(Object.create(noopMetricMeter), broken);

/** Run, and see that the run is what it is without telemetry. Returns what was said of it. */
async function expectUndisturbed(meter?: MetricMeter): Promise<string[]> {
  const { outcome, log } = await runOne({ script, ...(meter === undefined ? {} : { meter }) });
  expect(outcome).toMatchObject({ status: "completed", report: "Done.", toolCalls: 1, turns: 2 });
  return log.filter((line) => line.includes("telemetry is broken"));
}

describe("a run ends as it would without telemetry", () => {
  test("where a span processor throws as spans begin, which is said once", async () => {
    register({ onStart: fail });
    expect(await expectUndisturbed()).toHaveLength(1);
  });

  test("where a span processor throws as spans end, and all of them end", async () => {
    const ended: string[] = [];
    register({
      onEnd: ({ name }) => {
        ended.push(name);
        fail();
      },
    });
    expect(await expectUndisturbed()).toHaveLength(1);
    expect(ended).toEqual(["chat script", "execute_tool Bash", "chat script", "invoke_agent main"]);
  });

  test("where a run is cut off and the processor throws at each span, and nothing of it beats any more", async () => {
    const ended: string[] = [];
    register({
      onEnd: ({ name }) => {
        ended.push(name);
        fail();
      },
    });
    const silent = { script: [{ text: "Half", silence: true }], idleSeconds: 2 };
    const { outcome, beats } = await runOne(silent);
    expect(outcome).toMatchObject({ status: "timed_out", error: { code: "IDLE_TIMEOUT" } });
    expect(ended).toEqual(["chat script", "invoke_agent main"]);
    // A timer that had been left would have struck several times while another run is silent.
    const count = beats.length;
    await runOne(silent);
    expect(beats).toHaveLength(count);
  });

  test("where the meter has no instruments to give, which is said once", async () => {
    const broken = { createCounter: fail, createUpDownCounter: fail, createHistogram: fail };
    expect(await expectUndisturbed(toMeter(broken))).toHaveLength(1);
  });

  test("where a counter throws, and whoever was counted as running is taken off again", async () => {
    const running: number[] = [];
    const gauge = { add: (change: number) => void running.push(change) };
    const meter = toMeter({ createCounter: () => ({ add: fail }), createUpDownCounter: () => gauge });
    expect(await expectUndisturbed(meter)).toHaveLength(1);
    expect(running).toEqual([1, -1]);
  });
});
