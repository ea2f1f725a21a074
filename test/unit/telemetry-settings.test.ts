// Tier: no server. What OpenTelemetry's variables and the flag turn on, and what is refused.
import { describe, expect, test } from "@jest/globals";
import { ConfigurationError } from "../../worker/telemetry/environment.ts";
import { readTelemetry } from "../../worker/telemetry/settings.ts";

const seen = (environment: Record<string, string>, isAsked = false) => {
  const { traces, metrics } = readTelemetry(environment, isAsked);
  return { traces: traces?.exporters.join(), metrics: metrics?.exporter };
};

describe("telemetry", () => {
  test.each<[string, Record<string, string>, boolean, string | undefined, string | undefined]>([
    ["nothing said", {}, false, undefined, undefined],
    ["the flag", {}, true, "otlp", "prometheus"],
    ["the flag, and disabled", { OTEL_SDK_DISABLED: "true" }, true, undefined, undefined],
    [
      "empty variables",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_TRACES_EXPORTER: " " },
      false,
      undefined,
      undefined,
    ],
    ["a collector", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" }, false, "otlp", undefined],
    [
      "a collector of traces",
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c:1/x" },
      false,
      "otlp",
      undefined,
    ],
    [
      "a collector of metrics",
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://c:1/x" },
      false,
      undefined,
      "otlp",
    ],
    [
      "a collector, and no traces",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_TRACES_EXPORTER: "none" },
      false,
      undefined,
      undefined,
    ],
    ["the console", { OTEL_TRACES_EXPORTER: "Console" }, false, "console", undefined],
    ["the flag without metrics", { OTEL_METRICS_EXPORTER: "none" }, true, "otlp", undefined],
    ["metrics pushed", { OTEL_METRICS_EXPORTER: "otlp" }, false, undefined, "otlp"],
    ["two ways for traces", { OTEL_TRACES_EXPORTER: "otlp, console" }, false, "otlp,console", undefined],
    ["one way twice", { OTEL_TRACES_EXPORTER: "otlp,otlp" }, false, "otlp", undefined],
    ["none among others", { OTEL_TRACES_EXPORTER: "otlp,none" }, true, undefined, "prometheus"],
    ["disabled in capitals", { OTEL_SDK_DISABLED: "TRUE" }, true, undefined, undefined],
    ["what is no true", { OTEL_SDK_DISABLED: "1" }, true, "otlp", "prometheus"],
    ["a host for metrics alone", { OTEL_EXPORTER_PROMETHEUS_HOST: "0.0.0.0" }, false, undefined, undefined],
    ["a port for metrics", { OTEL_EXPORTER_PROMETHEUS_PORT: "0" }, false, undefined, "prometheus"],
  ])("%s", (_, environment, isAsked, traces, metrics) => {
    expect(seen(environment, isAsked)).toEqual({ traces, metrics });
  });

  test("goes to the usual places unless others are named", () => {
    expect(readTelemetry({}, true)).toEqual({
      serviceName: "temporal-subagents",
      resource: {},
      traces: {
        exporters: ["otlp"],
        url: "http://localhost:4318/v1/traces",
        sampler: { isParentBased: true, ratio: 1 },
        batch: {},
      },
      metrics: { exporter: "prometheus", host: "localhost", port: 9464, isOptional: false },
      warnings: [],
    });
  });

  test("takes a signal's own address as it is and gives the common one the signal's path", () => {
    const url = (environment: Record<string, string>) => readTelemetry(environment, true).traces?.url;
    expect(url({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://c/otlp/" })).toBe("https://c/otlp/v1/traces");
    expect(url({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c:1/here" })).toBe("http://c:1/here");
    expect(
      readTelemetry({ OTEL_METRICS_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:1" }, false)
        .metrics,
    ).toMatchObject({ url: "http://c:1/v1/metrics", intervalMs: 1000, temporality: "cumulative" });
  });

  test("reads names, samplers and batches", () => {
    const environment = {
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=of-the-list,team=a%2Cb",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_BSP_MAX_QUEUE_SIZE: "10",
    };
    expect(readTelemetry(environment, false)).toMatchObject({
      serviceName: "of-the-list",
      resource: { team: "a,b" },
      traces: {
        sampler: { isParentBased: true, ratio: 0.25 },
        batch: { scheduledDelayMillis: 100, maxQueueSize: 10 },
      },
    });
    expect(readTelemetry({ ...environment, OTEL_SERVICE_NAME: "named" }, false).serviceName).toBe("named");
    const off = readTelemetry({ ...environment, OTEL_TRACES_SAMPLER: "always_off" }, false);
    expect(off.traces?.sampler).toEqual({ isParentBased: false, ratio: 0 });
  });

  test.each([
    ["OTEL_TRACES_EXPORTER", "zipkin"],
    ["OTEL_TRACES_SAMPLER", "xray"],
    ["OTEL_METRICS_EXPORTER", "console"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "soon"],
    ["OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"],
    ["OTEL_EXPORTER_PROMETHEUS_PORT", "70000"],
    ["OTEL_EXPORTER_PROMETHEUS_PORT", "94.64"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_BSP_SCHEDULE_DELAY", "-1"],
    ["OTEL_RESOURCE_ATTRIBUTES", "team"],
    ["OTEL_RESOURCE_ATTRIBUTES", "team=%zz"],
  ])("%s that is %s is refused by name and value", (name, value) => {
    const refused = () => readTelemetry({ [name]: value }, true);
    expect(refused).toThrow(ConfigurationError);
    expect(refused).toThrow(`${name} is ${JSON.stringify(value)}: `);
  });

  test.each<[string, Record<string, string>, string | undefined, string | undefined, string[]]>([
    [
      "a collector that speaks gRPC",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      undefined,
      undefined,
      ['no traces: OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"'],
    ],
    [
      "a collector for metrics that speaks gRPC, beside one for traces that does not",
      {
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://c:4317",
        OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "grpc",
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c:4318/v1/traces",
      },
      "otlp",
      undefined,
      ['no metrics: OTEL_EXPORTER_OTLP_METRICS_PROTOCOL is "grpc"'],
    ],
    [
      "an address of another form",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
      undefined,
      undefined,
      ['no traces: OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4318"'],
    ],
    [
      "metrics on the console",
      { OTEL_METRICS_EXPORTER: "console" },
      undefined,
      undefined,
      ['OTEL_METRICS_EXPORTER is "console"'],
    ],
    [
      "an exporter of elsewhere beside one of ours",
      { OTEL_TRACES_EXPORTER: "zipkin,otlp" },
      "otlp",
      undefined,
      ['OTEL_TRACES_EXPORTER is "zipkin"'],
    ],
    [
      "two ways for metrics",
      { OTEL_METRICS_EXPORTER: "otlp,prometheus" },
      undefined,
      "otlp",
      ['OTEL_METRICS_EXPORTER is "prometheus"'],
    ],
    [
      "a sampler of elsewhere",
      { OTEL_TRACES_EXPORTER: "otlp", OTEL_TRACES_SAMPLER: "parentbased_jaeger_remote" },
      "otlp",
      undefined,
      ['OTEL_TRACES_SAMPLER is "parentbased_jaeger_remote"'],
    ],
    [
      "names that can't be read",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318", OTEL_RESOURCE_ATTRIBUTES: "team" },
      "otlp",
      undefined,
      ['no resource attributes: OTEL_RESOURCE_ATTRIBUTES is "team"'],
    ],
    [
      "a switch that is neither",
      { OTEL_SDK_DISABLED: "1", OTEL_TRACES_EXPORTER: "otlp" },
      "otlp",
      undefined,
      ['OTEL_SDK_DISABLED is "1": only true turns'],
    ],
    ["a switch that is neither, where nothing is on", { OTEL_SDK_DISABLED: "1" }, undefined, undefined, []],
  ])("meant for other programs: %s", (_, environment, traces, metrics, warnings) => {
    expect(seen(environment)).toEqual({ traces, metrics });
    const said = readTelemetry(environment, false).warnings;
    expect(said).toEqual(warnings.map((text) => expect.stringContaining(text)));
  });

  test("refuses what an exporter's name asks for and can't be had, flag or not", () => {
    const grpc = { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
    expect(() => readTelemetry(grpc, false)).toThrow('OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"');
    expect(() => readTelemetry({ OTEL_METRICS_EXPORTER: "promethues" }, false)).toThrow(ConfigurationError);
  });

  test("takes lowmemory as delta, which is the same for the instruments that there are", () => {
    const temporality = { OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "LowMemory" };
    expect(readTelemetry({ OTEL_METRICS_EXPORTER: "otlp", ...temporality }, false).metrics).toMatchObject({
      temporality: "delta",
    });
  });

  test("refuses a share of traces that is none", () => {
    const environment = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" };
    expect(() => readTelemetry(environment, true)).toThrow('OTEL_TRACES_SAMPLER_ARG is "2": ');
  });

  test("never repeats a header, which may be a key", () => {
    const environment = { OTEL_EXPORTER_OTLP_HEADERS: "secret-without-a-name" };
    expect(() => readTelemetry(environment, true)).toThrow("OTEL_EXPORTER_OTLP_HEADERS can't be read");
    expect(() => readTelemetry(environment, true)).not.toThrow(/secret/);
  });

  test("passes over what is wrong in a signal that is off", () => {
    expect(seen({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_RESOURCE_ATTRIBUTES: "x" })).toEqual({
      traces: undefined,
      metrics: undefined,
    });
  });
});
