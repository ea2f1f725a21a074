// The manual's example of questions: real processes, dev server, worker and files; only a model's words are scripted.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createMachine, type Machine } from "./cli-process.ts";
import { waitUntil } from "./wait-until.ts";

const manual = readFileSync(new URL("../../docs/permissions.md", import.meta.url), "utf8");
let machine: Machine;

beforeAll(async () => {
  machine = await createMachine();
  await machine.startReady("dev");
}, 180_000);

afterAll(async () => {
  await machine?.end();
}, 60_000);

/** Commands of the manual, and what each is said to print. */
function readExample(): { words: string[]; printed: string }[] {
  const [, console = ""] = /```console\n([\s\S]*?)```/.exec(manual) ?? [];
  return console
    .split(/^\$ subagents /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      const words = [...part.slice(0, end).matchAll(/"([^"]*)"|\S+/g)];
      return { words: words.map(([word, quoted]) => quoted ?? word), printed: part.slice(end + 1) };
    });
}

/** A text without what differs from run to run: ids, times, places, people, counts of tokens. */
function toComparable(text: string): string {
  return text
    .replaceAll(machine.workspace, "/home/me/demo")
    .replaceAll(/session-[a-z\d]+/g, "SESSION")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/^ +\+.*? {2}\d\d:\d\d:\d\d /gm, "+TIME ")
    .replaceAll(/\b\d+(\.\d+)? (ms|s)\b/g, "SOME s")
    .replaceAll(/[\w.-]+@[\w.-]+/g, "SOMEBODY")
    .replaceAll(/\d+ tokens/g, "SOME tokens");
}

test("the manual's example can be followed as it stands", async () => {
  const [, script = ""] = /```json\n(\{\n {2}"main"[\s\S]*?)```/.exec(manual) ?? [];
  writeFileSync(path.join(machine.workspace, "ask.json"), script);
  const example = readExample();
  expect(example.map(({ words }) => words[0])).toEqual(["run", "show", "approve", "deny", "approve", "show"]);
  let session = "";
  for (const { words, printed } of example) {
    const typed = words.map((word) => (word.startsWith("session-") ? session : word));
    let stdout = "";
    await waitUntil(async () => {
      const result = await machine.run(...typed);
      stdout = result.stdout;
      // A question that is not asked yet, and a delegate that has not ended.
      return result.code !== 2 && !stdout.includes("\nrunning");
    }, 60_000);
    session ||= stdout.trim();
    expect(toComparable(stdout)).toBe(toComparable(printed));
  }
  await machine.run("stop", session);
}, 180_000);
