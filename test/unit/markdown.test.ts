import { describe, expect, test } from "@jest/globals";
import { toMarkdownLine, toMarkdownQuote, toSummaryLine } from "../../core/markdown.ts";
import { toGist } from "../../core/report-gist.ts";
import { cutAtBytes } from "../../core/text.ts";

describe("a text as a line of Markdown", () => {
  test.each([
    ["a | b", "a \\| b"],
    ["<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\>"],
    ["![i](http://there/i.png)", "!\\[i\\](http\\://there/i.png)"],
    ["`tick` **bold** _low_ ~~gone~~", "\\`tick\\` \\*\\*bold\\*\\* \\_low\\_ \\~\\~gone\\~\\~"],
    ["npm run --silent x", "npm run \\-\\-silent x"],
    ["&lt;b&gt; $x$ \\|", "\\&lt;b\\&gt; \\$x\\$ \\\\\\|"],
    ["# head", "\\# head"],
    ["- item", "\\- item"],
    ["12. item", "12\\. item"],
    ["two\nlines\r\n\tand a tab", "two lines and a tab"],
    ["\u001b[2J\u202eabc", "\\\\x1b\\[2J\\\\u{202e}abc"],
  ])("%j keeps its words and loses its form", (text, line) => {
    expect(toMarkdownLine(text, 200)).toBe(line);
  });

  test("is bounded before it is escaped, so that no escape is cut in two", () => {
    expect(toMarkdownLine("||||||", 4)).toBe("\\|\\|\\|…");
  });
});

describe("a text as a quotation", () => {
  test("keeps its lines and its indentation", () => {
    expect(toMarkdownQuote("one\n    two\n\n# three", 100)).toBe(
      "> one\\\n> \u00a0\u00a0\u00a0\u00a0two\n>\n> \\# three",
    );
  });

  test("says how much of it was left out", () => {
    expect(toMarkdownQuote("abcdef", 4)).toBe("> abcd\\\n> \\[2 characters left out\\]");
  });
});

describe("a summary, which is shown both plain and as Markdown,", () => {
  test.each([
    ["the list[0] of Array<string> is a < b", "the list[0] of Array< string> is a < b"],
    ["<img src=x onerror=y>", "< img src=x onerror=y>"],
    ["![i] (http://there/i.png)", "![i]· (http://there/i.png)"],
    ["[a][b] and [c]: http://there", "[a]·[b] and [c]·: http://there"],
  ])("%j has no tag, image or link", (text, line) => {
    expect(toSummaryLine(text, 200)).toBe(line);
  });
});

describe("the gist of a report", () => {
  test.each([
    ["<files>a.ts</files>\n<answer>\nIt is there.\n</answer>", "It is there."],
    ["<summary>Done", "Done"],
    ["<changes>\nsrc/a.ts\n</changes>", "src/a.ts"],
    ["plain words", "plain words"],
    ["<answer></answer>", "<answer></answer>"],
    ["", ""],
  ])("of %j is %j", (report, gist) => {
    expect(toGist(report)).toBe(gist);
  });
});

describe("a text cut at a number of bytes", () => {
  const toBytes = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

  test.each([
    "abcdefghij".repeat(10),
    "файл".repeat(40),
    "文件".repeat(40),
    "👩‍💻".repeat(20),
    '"\\'.repeat(50),
  ])("%j stays within it as JSON and is well formed", (text) => {
    for (const limit of [3, 20, 21, 22, 23, 60]) {
      const cut = cutAtBytes(text, limit);
      expect(toBytes(cut)).toBeLessThanOrEqual(limit);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.endsWith("…")).toBe(true);
    }
  });

  test("that fits is left alone", () => {
    expect(cutAtBytes("файл", 8)).toBe("файл");
  });
});
