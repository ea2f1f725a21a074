import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { HEAD_BYTES, OutputCollector, TAIL_BYTES } from "../../activities/tools/command-output.ts";
import { OutputKeeper } from "../../activities/tools/command-output-file.ts";
import { openBash } from "./bash-support.ts";

/** What the model may get at most: the two parts, the line between them, and the remarks. */
const BOUND = HEAD_BYTES + TAIL_BYTES + 1_000;

function collect(chunks: readonly Uint8Array[]) {
  const collector = new OutputCollector();
  for (const chunk of chunks) collector.add(chunk);
  return collector.toText();
}

const pieces = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: "grapheme", maxLength: 100 }).map((text) => Buffer.from(text)),
  fc
    .tuple(fc.constantFrom("x", "é", "€", "😀", "\xff", "\0"), fc.integer({ min: 0, max: 40_000 }))
    .map(([character, length]) => Buffer.from(character.repeat(length))),
);

describe("the collector", () => {
  test("any division into chunks gives the same text, well formed and bounded", () => {
    const cuts = fc.array(fc.nat({ max: 200_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), cuts, (parts, places) => {
        const bytes = Buffer.concat(parts);
        const edges = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
          (a, b) => a - b,
        );
        const chunks = edges.map((edge, index) => bytes.subarray(edge, edges[index + 1] ?? bytes.length));
        const whole = collect([bytes]);
        expect(collect(chunks)).toEqual(whole);
        expect(whole.totalBytes).toBe(bytes.length);
        expect(whole.text.isWellFormed()).toBe(true);
        expect(whole.text).not.toContain("\0");
        expect(whole.text.length).toBeLessThanOrEqual(BOUND);
      }),
      { numRuns: 300 },
    );
  });

  test("byte by byte is the same as at once", () => {
    const bytes = Buffer.from("é€😀x".repeat(4_000));
    expect(collect([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(collect([bytes]));
  });

  test("the beginning and the end are kept with whole characters, and what is missing is counted", () => {
    for (const shift of ["", "a", "ab", "abc"]) {
      const text = shift + "€😀".repeat(10_000);
      const { text: shown, leftOutBytes, isBinary } = collect([Buffer.from(text)]);
      const [head = "", tail = ""] = shown.split(/\n\[… \d+ of \d+ bytes left out here …\]\n/);
      expect([text.startsWith(head), text.endsWith(tail), isBinary]).toEqual([true, true, false]);
      expect(Buffer.byteLength(head) + Buffer.byteLength(tail) + leftOutBytes).toBe(Buffer.byteLength(text));
      expect(Buffer.byteLength(head)).toBeGreaterThan(HEAD_BYTES - 4);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(TAIL_BYTES - 4);
    }
  });

  test("exactly what fits is whole, one byte more is cut", () => {
    const fits = Buffer.alloc(HEAD_BYTES + TAIL_BYTES, "y");
    expect(collect([fits])).toMatchObject({ text: fits.toString(), leftOutBytes: 0 });
    expect(collect([fits, Buffer.from("y")])).toMatchObject({ leftOutBytes: 1 });
  });
});

describe("the file of the full output", () => {
  test("holds all bytes up to its limit, for the owner alone, and none at all if the text has everything", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keeper-"));
    try {
      const small = new OutputKeeper(join(folder, "small"));
      await small.add(Buffer.alloc(HEAD_BYTES + TAIL_BYTES, "y"));
      expect(await small.finish()).toMatchObject({ file: undefined, storeProblem: undefined });
      const large = new OutputKeeper(join(folder, "large"), 100_000);
      for (let chunk = 0; chunk < 30; chunk += 1) await large.add(Buffer.alloc(5_000, String(chunk % 10)));
      expect(await large.finish()).toMatchObject({ storedBytes: 100_000, totalBytes: 150_000 });
      expect(readdirSync(folder)).toEqual(["large"]);
      expect(statSync(join(folder, "large")).mode & 0o777).toBe(0o600);
      const expected = Array.from({ length: 20 }, (_, chunk) => String(chunk % 10).repeat(5_000)).join("");
      expect(readFileSync(join(folder, "large"), "utf8")).toBe(expected);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("one that can't be written costs the file, not the answer", async () => {
    const keeper = new OutputKeeper("/nowhere/at/all");
    for (let chunk = 0; chunk < 10; chunk += 1) await keeper.add(Buffer.alloc(10_000, "y"));
    const kept = await keeper.finish();
    expect(kept).toMatchObject({ file: undefined, totalBytes: 100_000 });
    expect(kept.storeProblem).toMatch(/ENOENT/);
  });
});

describe("big and dirty output of real commands", () => {
  test("binary is named with its size and shown as a sample only", async () => {
    using bash = openBash();
    for (const command of ["head -c 100000 /dev/urandom", "head -c 100000 /dev/zero"]) {
      const { text, isError } = await bash.run(command);
      expect(isError).toBe(false);
      expect(text).toMatch(/^The output is binary: 100000 bytes/);
      expect(text.length).toBeLessThan(1_500);
      expect(text.isWellFormed()).toBe(true);
    }
  });

  test("single bad bytes, NUL and controls show in otherwise plain text", async () => {
    using bash = openBash();
    const { text } = await bash.run(
      "printf 'plain text, and then \\xff\\xfe and \\0 and \\x1b[31m, plain again\\n'",
    );
    expect(text).toBe("plain text, and then \ufffd\ufffd and \u2400 and \u241b[31m, plain again\n");
    expect((await bash.run("printf '\\xff\\xfe'")).text).toMatch(
      /^The output is binary: 2 bytes[\s\S]*\ufffd\ufffd$/,
    );
  });

  test("500 MB of lines and a line of 200 MB keep memory bounded and are counted to the byte", async () => {
    using bash = openBash();
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 20);
    const before = process.memoryUsage().rss;
    try {
      const many = await bash.run("yes | head -c 500M");
      expect(many.isError).toBe(false);
      expect(many.text).toContain("of 524288000 bytes left out here");
      expect(many.text).toMatch(/the first 67108864 of 524288000 bytes lie in \/.*\.txt\n/);
      const one = await bash.run("head -c 200000000 /dev/zero | tr '\\0' x; echo end");
      expect(one.text).toContain("of 200000004 bytes left out here");
      expect(one.text).toMatch(/xend\n$/);
      expect(Math.max(many.text.length, one.text.length)).toBeLessThan(BOUND);
    } finally {
      clearInterval(watch);
    }
    expect(peak - before).toBeLessThan(150 * 1024 * 1024);
  });

  test("ten endless writers at once delay neither their timeouts nor other work", async () => {
    using bash = openBash();
    let longestGap = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longestGap = Math.max(longestGap, performance.now() - last);
      last = performance.now();
    }, 10);
    const results = await Promise.all(Array.from({ length: 10 }, () => bash.run("cat /dev/zero", 3)));
    clearInterval(beat);
    for (const { text, ms } of results) {
      expect(text).toMatch(/^Timed out after 3 s\./);
      expect(ms).toBeGreaterThan(2_990);
      expect(ms).toBeLessThan(5_500);
      expect(text.length).toBeLessThan(2_000);
    }
    expect(longestGap).toBeLessThan(1_000);
  }, 20_000);
});
