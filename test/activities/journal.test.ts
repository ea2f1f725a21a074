// Tier: real files.
import { constants } from "node:fs";
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { JournalEntry } from "../../activities/journal/journal-entry.ts";
import {
  createFileJournalStore,
  type JournalStore,
  type TakeOver,
} from "../../activities/journal/journal-store.ts";
import { type StateFolder, toSessionFolder, toStateFolder } from "../../core/state-folder.ts";

let folder: string;
let state: StateFolder;
let store: JournalStore;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "subagents-journal-"));
  state = toStateFolder({ XDG_STATE_HOME: folder }, undefined);
  store = createFileJournalStore(state);
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const toTakeOver = (attempt: number, changes: Partial<TakeOver> = {}): TakeOver => ({
  opening: { kind: "run", runId: "task-1", attempt, atMs: attempt, scheduledAtMs: attempt },
  inherit: async () => [],
  knownLines: 0,
  ...changes,
});
const take = async (attempt: number, changes: Partial<TakeOver> = {}) =>
  await store.takeOver("session", "task-1", toTakeOver(attempt, changes));
const said = (text: string): JournalEntry => ({
  kind: "message",
  message: { role: "user", content: text, timestamp: 0 },
});
const fileOf = (generation: number) =>
  path.join(toSessionFolder(state, "session").journals, `task-1.${generation}.jsonl`);

describe("a journal", () => {
  test("is private, and read back as it was written", async () => {
    const { entries, writer } = await take(1);
    expect(entries).toEqual([]);
    await Promise.all([writer.append(said("ä\n😀")), writer.append({ kind: "turn-end" })]);
    expect(writer.lines).toBe(3);
    expect(await store.read("session", "task-1")).toEqual([
      toTakeOver(1).opening,
      said("ä\n😀"),
      { kind: "turn-end" },
    ]);
    expect((await stat(fileOf(1))).mode & 0o777).toBe(0o600);
    await writer.close();
  });

  test("with a torn last line goes on behind the last whole one", async () => {
    const { writer } = await take(1);
    await writer.append(said("whole"));
    await writer.append(said("torn ä"));
    await writer.close();
    await truncate(fileOf(1), (await stat(fileOf(1))).size - 30);
    const next = await take(2);
    expect(next.entries).toEqual([toTakeOver(1).opening, said("whole")]);
    await next.writer.append({ kind: "turn-end" });
    expect((await store.read("session", "task-1")).map(({ kind }) => kind)).toEqual([
      "run",
      "message",
      "run",
      "turn-end",
    ]);
    await next.writer.close();
  });

  test.each([
    ["cut bytes", '{"n":2,"kind":"mess'],
    ["a line of another number", '{"n":3,"kind":"turn-end"}'],
    ["a line without a number", '{"kind":"turn-end"}'],
    ["NUL bytes", "\0\0\0\0"],
    ["an empty line", ""],
    ["null", "null"],
    ["a number", "5"],
    ["an unknown kind", '{"n":2,"kind":"wish"}'],
    ["a message without a role", '{"n":2,"kind":"message","message":{}}'],
    ["a result without its call", '{"n":2,"kind":"tool-end","result":{}}'],
  ])("that is damaged before its end (%s) is refused, and left as it was", async (_, line) => {
    const { writer } = await take(1);
    await writer.close();
    await appendFile(fileOf(1), `${line}\n${JSON.stringify({ n: 3, kind: "turn-end" })}\n`);
    const before = await readFile(fileOf(1));
    await expect(take(2)).rejects.toMatchObject({
      name: "JournalUnreadable",
      message: "line 2 of the journal is damaged",
    });
    await expect(store.read("session", "task-1")).rejects.toMatchObject({ name: "JournalUnreadable" });
    expect(await readFile(fileOf(1))).toEqual(before);
    expect(await readdir(path.dirname(fileOf(1)))).toEqual(["task-1.1.jsonl"]);
  });

  test("with fewer lines than the run has written is not the run's", async () => {
    await expect(take(2, { knownLines: 3 })).rejects.toMatchObject({
      name: "JournalUnreadable",
      message: expect.stringMatching(/0 lines here, and 3 were written/),
    });
    const { writer } = await take(1);
    await writer.append({ kind: "turn-end" });
    await writer.close();
    await expect(take(2, { knownLines: 3 })).rejects.toMatchObject({ name: "JournalUnreadable" });
    await expect(take(2, { knownLines: 2 })).resolves.toBeDefined();
  });

  test("that continues another begins with all of that one or is not there", async () => {
    const failing = async () => {
      throw new Error("gone");
    };
    await expect(take(1, { inherit: failing })).rejects.toThrow("gone");
    expect(await store.read("session", "task-1")).toEqual([]);
    const { entries, writer } = await take(1, { inherit: async () => [said("a"), { kind: "turn-end" }] });
    expect(entries).toEqual([said("a"), { kind: "turn-end" }]);
    await writer.close();
    const next = await take(2, { inherit: failing });
    expect(next.entries.map(({ kind }) => kind)).toEqual(["message", "turn-end", "run"]);
    await next.writer.close();
  });
});

describe("an attempt that was overtaken", () => {
  test("writes nothing more, and can tell", async () => {
    const old = await take(1);
    expect(await old.writer.isOvertaken()).toBe(false);
    const next = await take(2);
    expect(await old.writer.isOvertaken()).toBe(true);
    const before = await readFile(fileOf(1));
    await expect(old.writer.append({ kind: "turn-end" })).rejects.toMatchObject({ name: "JournalOvertaken" });
    expect(await readFile(fileOf(1))).toEqual(before);
    await next.writer.append(said("goes on"));
    expect(await next.writer.isOvertaken()).toBe(false);
    await Promise.all([old.writer.close(), next.writer.close()]);
  });

  test("can't take the journal back, for it was scheduled earlier", async () => {
    const next = await take(2);
    await expect(take(1)).rejects.toMatchObject({ name: "JournalOvertaken" });
    expect(await next.writer.isOvertaken()).toBe(false);
    await next.writer.close();
  });

  test("is told by its next look, or its line is read by the one that took over", async () => {
    const first = await take(1);
    // So much that it takes a while to be copied: time enough for the old attempt to act in between.
    for (let line = 0; line < 20; line++) await first.writer.append(said("x".repeat(100_000)));
    await first.writer.close();
    for (let round = 1; round <= 30; round++) {
      const old = await take(2 * round);
      // As a call is permitted: the line first, then the look.
      const acts = (async () => {
        // Not a wait: each round begins at another moment of the taking over.
        await setTimeout(round);
        try {
          await old.writer.append({ kind: "tool-start", callId: `c${round}`, atMs: 0 });
          return !(await old.writer.isOvertaken());
        } catch {
          return false;
        }
      })();
      const [hasActed, next] = await Promise.all([acts, take(2 * round + 1)]);
      const isKnown = next.entries.some(
        (entry) => entry.kind === "tool-start" && entry.callId === `c${round}`,
      );
      expect({ round, isSafe: !hasActed || isKnown }).toEqual({ round, isSafe: true });
      await Promise.all([old.writer.close(), next.writer.close()]);
    }
  });

  test("or cleared away knows it too", async () => {
    const { writer } = await take(1);
    await rm(fileOf(1));
    expect(await writer.isOvertaken()).toBe(true);
    await writer.close();
  });
});

test("of attempts that take over at once one owns the journal, and nothing is lost", async () => {
  const first = await take(1);
  await first.writer.append(said("kept"));
  const takers = await Promise.allSettled([2, 3, 4, 5, 6].map((attempt) => take(attempt)));
  const writers = takers.flatMap((taker) => (taker.status === "fulfilled" ? [taker.value.writer] : []));
  const overtaken = await Promise.all(writers.map((writer) => writer.isOvertaken()));
  expect(overtaken.filter((isOver) => !isOver)).toHaveLength(1);
  for (const taker of takers) {
    if (taker.status === "rejected") expect(taker.reason).toMatchObject({ name: "JournalOvertaken" });
    else expect(taker.value.entries).toContainEqual(said("kept"));
  }
  expect(await store.read("session", "task-1")).toContainEqual(said("kept"));
  await Promise.all([first.writer, ...writers].map((writer) => writer.close()));
});

test("two generations of a journal stay on disk, and no drafts", async () => {
  for (let attempt = 1; attempt <= 5; attempt++) await (await take(attempt)).writer.close();
  expect((await readdir(path.dirname(fileOf(1)))).toSorted()).toEqual([
    "task-1.4.jsonl",
    "task-1.4.sealed",
    "task-1.5.jsonl",
  ]);
});

test("a chain whose name begins like another's is another", async () => {
  const other = await store.takeOver("session", "task-1.2", toTakeOver(1));
  await other.writer.append(said("of another"));
  expect(await store.read("session", "task-1")).toEqual([]);
  await other.writer.close();
});

test("a journal that can't be read says why", async () => {
  await (await take(1)).writer.close();
  await rm(fileOf(1));
  await mkdir(fileOf(1));
  await expect(take(2)).rejects.toMatchObject({
    name: "JournalUnreadable",
    message: expect.stringMatching(/can't be read: it is a directory, not a regular file/),
  });
});

test("a journal whose place is taken by a file says why", async () => {
  await (await take(1)).writer.close();
  const { journals } = toSessionFolder(state, "session");
  await rm(journals, { recursive: true });
  await writeFile(journals, "", { flag: constants.O_CREAT | constants.O_WRONLY });
  await expect(store.read("session", "task-1")).rejects.toMatchObject({
    name: "JournalUnreadable",
    message: expect.stringMatching(/can't be listed: .*ENOTDIR/),
  });
});
