import { expect, test } from "@jest/globals";
import { toCallTarget } from "../../core/transcript.ts";

test.each([
  [{ pattern: "onHand|reserved", path: "src" }, "onHand|reserved in src"],
  [{ pattern: "**/*.ts" }, "**/*.ts"],
  [{ path: "a.ts", offset: 3 }, "a.ts"],
  [{ command: "npm test", timeoutSeconds: 5 }, "npm test"],
  [{ agent: "fixer", task: "repair it" }, "fixer"],
  [{ delegationIds: ["task-1", "task-2"] }, '["task-1","task-2"]'],
  [{ pattern: 7, path: null }, "7"],
  [{}, ""],
  [null, ""],
  ["text", ""],
])("a call with %j is about %j", (input, target) => {
  expect(toCallTarget(input)).toBe(target);
});
