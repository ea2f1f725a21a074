// Names of agents: one form for comparison on both sides of a Task call, and what may not be a name at all.
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { findNameFault, nearestName, normalizeAgentName } from "../../core/names.ts";

describe("the form in which names are compared", () => {
  test.each([
    ["  Reviewer ", "reviewer"],
    ["Code_Reviewer", "code-reviewer"],
    ["code \t reviewer", "code-reviewer"],
    ["CAFE\u0301", "caf\u00e9"],
    ["STRASSE", "strasse"],
    ["H\u0331", "\u1e96"],
    ["Stra\u00dfe", "stra\u00dfe"],
    ["\u212aelvin", "kelvin"],
    ["\u0130stanbul", "i\u0307stanbul"],
    ["\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"],
    ["\u00a0\u3000x\ufeff", "x"],
    ["v1.2", "v1.2"],
  ])("of %j is %j", (written, normalized) => {
    expect(normalizeAgentName(written)).toBe(normalized);
  });

  test("is reached in one step, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const once = normalizeAgentName(name);
        expect(normalizeAgentName(once)).toBe(once);
        expect(once.normalize("NFC")).toBe(once);
      }),
      { numRuns: 2_000 },
    );
  });

  test("does not depend on composition", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (name) => {
        expect(normalizeAgentName(name.normalize("NFD"))).toBe(normalizeAgentName(name));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("what may be a name", () => {
  test.each([
    "explorer",
    "v1.2",
    "a",
    "7",
    "-x",
    ".x",
    "übersetzer",
    "दस्तावेज़",
    "代码审查",
    "ревьюер",
    "i\u0307stanbul",
    "مراجع",
  ])("%s", (name) => {
    expect(findNameFault(name)).toBeUndefined();
  });

  test.each([
    ["", "is empty"],
    ["a\u0007b", "control"],
    ["a\u0085b", "control"],
    ["a\u2028b", "control"],
    ["a\u202eb", "direction"],
    ["a\u2067b", "direction"],
    ["a\u200fb", "direction"],
    ["a\u200bb", "invisible"],
    ["a\u200db", "invisible"],
    ["a\u00adb", "invisible"],
    ["a\u3164b", "invisible"],
    ["a\ufe0fb", "invisible"],
    ["a\u034fb", "invisible"],
    ["a\u{e0041}b", "invisible"],
    [".", "path"],
    ["..", "path"],
    ["a/b", "path"],
    ["..\\a", "path"],
    ["\u0301a", "letters"],
    ["a:b", "letters"],
    ["a😀", "letters"],
    ["a½", "letters"],
    ["a\ud800", "letters"],
    ["a(b)", "letters"],
    ["---", "needs a letter"],
    ["x".repeat(65), "more than 64"],
    ["𝒳".repeat(65), "more than 64"],
  ])("is not %j: %s", (name, fault) => {
    expect(findNameFault(name)).toContain(fault);
  });

  test("has 64 characters at most, counted as a person counts letters of two units", () => {
    expect(findNameFault("𐐨".repeat(64))).toBeUndefined();
  });
});

describe("the nearest name", () => {
  const valid = ["code-reviewer", "explorer", "fixer", "test-runner"];
  test.each([
    ["reviwer", "code-reviewer"],
    ["runer", "test-runner"],
    ["code", undefined],
    ["code-reviwer", "code-reviewer"],
    ["Explorer ", "explorer"],
    ["exploer", "explorer"],
    ["fixr", "fixer"],
    ["something else", undefined],
  ])("to %j is %s", (name, nearest) => {
    expect(nearestName(name, valid)).toBe(nearest);
  });
});
