import { expect, test } from "@jest/globals";
import { toToolAttributes } from "../../activities/telemetry/span-attributes.ts";
import type { AgentRunInput } from "../../core/agent-run.ts";

const run = { sessionId: "session-1" } as AgentRunInput;

test.each([
  ["Bash", "Bash"],
  ["TaskWait", "TaskWait"],
  ["sk-secret-123", "unknown"],
  ["bash", "unknown"],
])("a call of %s is one of %s: no words of a model's own reach a span", (tool, name) => {
  expect(toToolAttributes(run, tool, "call-1")["gen_ai.tool.name"]).toBe(name);
});
