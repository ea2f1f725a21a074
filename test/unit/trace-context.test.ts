// Tier: no server. Where in a trace something happens, as it travels.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { type ContextManager, context } from "@opentelemetry/api";
import { readActiveTrace } from "../../client/active-trace.ts";
import { readTraceContext, toTraceContext } from "../../core/trace-context.ts";
import { readOwnPackage } from "../../worker/own-package.ts";

describe("a trace context from elsewhere", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  test("is read, and a tracestate that can't travel is left out", () => {
    expect(readTraceContext({ traceparent, tracestate: "a=1" })).toEqual({ traceparent, tracestate: "a=1" });
    expect(readTraceContext({ traceparent, tracestate: "a=1\nX: y" })).toEqual({ traceparent });
    expect(readTraceContext({ traceparent, tracestate: "a".repeat(513) })).toEqual({ traceparent });
  });

  test.each([
    undefined,
    null,
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    {},
    { traceparent: 7 },
    { traceparent: "nonsense" },
    { traceparent: `${traceparent}-more` },
    { traceparent: `${traceparent}\n` },
    { traceparent: traceparent.toUpperCase() },
    { traceparent: traceparent.replace("b7ad6b7169203331", "0".repeat(16)) },
    { traceparent: traceparent.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)) },
    { traceparent: traceparent.replace(/^00/, "ff") },
  ])("that is %j is passed over", (value) => {
    expect(readTraceContext(value)).toBeUndefined();
  });
});

describe("a trace context that is handed on", () => {
  const place = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    traceFlags: 1,
  };
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  test("says trace, span, flags, and a state if there is one", () => {
    expect(toTraceContext(place)).toEqual({ traceparent });
    expect(toTraceContext({ ...place, traceFlags: 0 })?.traceparent).toMatch(/-00$/);
    const traceState = { serialize: () => "a=1" };
    expect(toTraceContext({ ...place, traceState })).toEqual({ traceparent, tracestate: "a=1" });
    expect(toTraceContext({ ...place, traceState: { serialize: () => "" } })).toEqual({ traceparent });
  });

  test("is none for a span of no trace", () => {
    expect(toTraceContext({ ...place, traceId: "0".repeat(32) })).toBeUndefined();
  });

  test("is none where the host's own SDK throws: the call is made all the same", () => {
    const fail = () => {
      throw new Error("telemetry is broken");
    };
    const broken = { active: fail, disable: () => broken } as unknown as ContextManager;
    context.setGlobalContextManager(broken);
    expect(readActiveTrace()).toBeUndefined();
    context.disable();
  });
});

test("our own version is that of the package file, for every reader", () => {
  const file = new URL("../../package.json", import.meta.url);
  const { version, engines } = JSON.parse(readFileSync(file, "utf8"));
  expect(readOwnPackage()).toEqual({ version, node: engines.node });
});
