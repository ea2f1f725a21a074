// docs/definitions.md says what the loader does: its example loads without a word, and its tables agree with the code.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { readKey } from "../../activities/definitions/keys.ts";
import { createWorld, loadBuiltins } from "../support/definitions.ts";

let manual: string;
beforeAll(async () => {
  manual = await readFile(new URL("../../docs/definitions.md", import.meta.url), "utf8");
});

/** The cells of the table that begins with this heading, marks of code taken off. */
function readTable(heading: string): string[][] {
  const lines = manual.split("\n");
  const start = lines.findIndex((line) => new RegExp(`^\\| ${heading} +\\|`, "u").test(line));
  expect(start).toBeGreaterThan(0);
  const length = lines.slice(start).findIndex((line) => !line.startsWith("|"));
  return lines.slice(start + 2, start + length).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.replaceAll("`", "").trim()),
  );
}

test("the example is in force without a problem", async () => {
  const world = await createWorld();
  const document = /```markdown\n([\s\S]*?)```/u.exec(manual)?.[1] ?? "";
  await writeFile(join(world.builtinDirectory, "migration-checker.md"), document);
  const { definitions, problems } = await world.load();
  await world.remove();
  expect(problems).toEqual([]);
  expect(definitions).toEqual([
    expect.objectContaining({
      name: "migration-checker",
      tools: ["Read", "Glob", "Grep"],
      maxTurns: 20,
      idleTimeoutSeconds: 120,
    }),
  ]);
});

test("every key of the table is one, in its own spelling", () => {
  const keys = readTable("key")
    .map(([key = ""]) => key)
    .filter((key) => key !== "body");
  expect(keys.map((key) => readKey(key))).toEqual(keys.map((key) => ({ kind: "own", key })));
  expect(keys).toHaveLength(10);
});

test("the built-in definitions are the table's", async () => {
  const builtins = await loadBuiltins();
  const rows = readTable("name").map(([name, tools, turns]) => [name, tools, Number(turns)]);
  const real = builtins.map(({ name, tools, maxTurns }) => [name, tools.join(", "), maxTurns]);
  expect(rows.sort()).toEqual(real.sort());
});

test("keys of other hosts do what the table says", () => {
  const rows = readTable("theirs")
    .slice(-2)
    .map(([keys = ""]) => keys.split(", ").filter((key) => key !== "…"));
  const kinds = rows.map((keys) => [...new Set(keys.map((key) => readKey(key).kind))]);
  expect(kinds).toEqual([["quiet"], ["limiting"]]);
});
