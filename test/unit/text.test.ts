import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { bound, cutAt, escapeControls, toOneLine, toWellFormed } from "../../core/text.ts";

/** Any UTF-16, lone surrogates, controls, bidirectional marks and wide characters among them. */
const anyText = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(
        "😀",
        "\ud83d",
        "\ude00",
        "\u001b[2J",
        "\u202e",
        "\u2028",
        "\r\n",
        "e\u0301",
        "\0",
        " ",
      ),
    ),
    { maxLength: 120 },
  )
  .map((parts) => parts.join(""));

const limits = fc.integer({ min: 0, max: 200 });
const toMark = (leftOut: number) => ` … ${leftOut} characters left out`;

test("toWellFormed leaves good text alone and never yields half a pair", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(toWellFormed(text).isWellFormed()).toBe(true);
      if (text.isWellFormed()) expect(toWellFormed(text)).toBe(text);
    }),
  );
});

describe("cutAt", () => {
  test("keeps a beginning of at most `limit` units and splits no pair", () => {
    fc.assert(
      fc.property(anyText, limits, (text, limit) => {
        const cut = cutAt(text, limit);
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, limit) - 1);
        if (text.isWellFormed()) expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });

  test.each([
    ["a😀b", 2, "a"],
    ["a😀b", 3, "a😀"],
    ["abc", 0, ""],
    ["abc", -1, ""],
    ["abc", 3, "abc"],
  ])("%j at %i is %j", (text, limit, cut) => {
    expect(cutAt(text, limit)).toBe(cut);
  });
});

describe("bound", () => {
  test("is well formed and within the limit, the mark included, for every limit", () => {
    fc.assert(
      fc.property(anyText, limits, (text, limit) => {
        const bounded = bound(text, limit, toMark);
        expect(bounded.isWellFormed()).toBe(true);
        expect(bounded.length).toBeLessThanOrEqual(limit);
        if (text.length <= limit) expect(bounded).toBe(toWellFormed(text));
      }),
    );
  });

  test("tells the true number of characters left out", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 40, max: 200 }), (start, limit) => {
        const text = start.padEnd(limit + 1, "é");
        const bounded = bound(text, limit, toMark);
        const [, leftOut] = / … (\d+) characters left out$/.exec(bounded) ?? [];
        const kept = bounded.slice(0, bounded.lastIndexOf(" … "));
        expect(Number(leftOut)).toBe(text.length - kept.length);
        expect(toWellFormed(text).startsWith(kept)).toBe(true);
      }),
    );
  });

  test("a mark longer than the limit is cut itself", () => {
    expect(bound("x".repeat(100), 5, () => "<cut here>")).toBe("<cut ");
  });
});

describe("escapeControls", () => {
  test("leaves nothing that can drive a terminal or reorder a line", () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, multiline) => {
        const escaped = escapeControls(text, { multiline });
        const rest = multiline ? escaped.replace(/[\n\t]/g, "") : escaped;
        expect(rest).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(escaped.isWellFormed()).toBe(true);
      }),
    );
  });

  test.each([
    ["\u001b[2J", "\\x1b[2J"],
    ["\u001b]52;c;eA==\u0007", "\\x1b]52;c;eA==\\x07"],
    ["a\u202eb\u2066c", "a\\u{202e}b\\u{2066}c"],
    ["a\rb\nc", "a\\x0db\\x0ac"],
    ["\u{e0041}", "\\u{e0041}"],
    ["äß😀", "äß😀"],
  ])("%j is shown as %s", (text, shown) => {
    expect(escapeControls(text)).toBe(shown);
  });
});

test("toOneLine is one bounded line without controls", () => {
  fc.assert(
    fc.property(anyText, limits, (text, limit) => {
      const line = toOneLine(text, limit);
      expect(line.length).toBeLessThanOrEqual(limit);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(line.isWellFormed()).toBe(true);
    }),
  );
  expect(toOneLine("  a\n\n b\tc ", 80)).toBe("a b c");
});
