// Parsing a definition is total: whatever the text, it is in force without an error or refused with one.
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decode } from "../../activities/definitions/decode.ts";
import { parseDefinition } from "../../activities/definitions/parse-definition.ts";
import { findNameFault } from "../../core/names.ts";

const key = fc.constantFrom(
  ...["name", "description", "tools", "Tools", "disallowedTools", "model", "permission", "permissionMode"],
  ...[
    "max-turns",
    "maxTurns",
    "idleTimeoutSeconds",
    "maxDurationSeconds",
    "thinkingLevel",
    "color",
    "x",
    "<<",
  ],
);
const value = fc.oneof(
  fc.constantFrom(
    "Read",
    "*",
    "Read, Bash",
    "[Read, *]",
    "[]",
    "{a: 1}",
    "&a [*a]",
    "*a",
    "0",
    "none",
    "1e999",
    "~",
  ),
  fc.constantFrom(
    "ask",
    "auto",
    "inherit",
    "a: b",
    "'",
    '"',
    "|",
    ">-",
    "!!binary x",
    "\t",
    "- Read",
    "\n  - Read",
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const lines = fc.array(
  fc.tuple(key, fc.constantFrom(": ", ":", " : ", "\n"), value).map((parts) => parts.join("")),
  { maxLength: 8 },
);

function check(text: string): void {
  const { draft, names, findings } = parseDefinition(text, "stem", "user");
  expect(findings.some(({ severity }) => severity === "error")).toBe(draft === undefined);
  expect(names.length).toBeGreaterThan(0);
  for (const { line, message, instead } of findings) {
    expect(line).toBeGreaterThanOrEqual(0);
    expect(line).toBeLessThanOrEqual(text.split("\n").length);
    expect(message !== "" && instead !== "").toBe(true);
  }
  if (draft === undefined) return;
  expect(findNameFault(draft.name)).toBeUndefined();
  expect(draft.tools.length).toBeGreaterThan(0);
  expect(draft.description).not.toBe("");
  expect(draft.prompt.trim()).not.toBe("");
  expect(draft.maxTurns ?? 1).toBeGreaterThan(0);
}

describe("every text", () => {
  test("made of a definition's parts has an outcome", () => {
    fc.assert(
      fc.property(lines, (keys) => check(`---\ndescription: x\n${keys.join("\n")}\n---\nYou read.\n`)),
      { numRuns: 3_000 },
    );
  });

  test("and every byte sequence has an outcome", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => check(decode(Buffer.from(bytes)).text)),
      { numRuns: 1_000 },
    );
  });
});

describe("what a document grants", () => {
  test("is never more than its words say", () => {
    fc.assert(
      fc.property(lines, (keys) => {
        const text = `---\ndescription: x\n${keys.join("\n")}\n---\nYou read.\n`;
        const { draft } = parseDefinition(text, "stem", "user");
        const granted = draft?.tools ?? [];
        const isNamed = (tool: string) => text.toLowerCase().includes(tool) || text.includes("*");
        expect(!granted.includes("Bash") || isNamed("bash")).toBe(true);
        expect(!granted.includes("Write") || isNamed("write")).toBe(true);
        expect(draft?.permission !== "auto" || /auto/iu.test(text)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});
