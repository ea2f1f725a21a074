// Tier: real files.
import { mkdtemp, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { LiveFile } from "../../activities/run/live-file.ts";
import { RunMonitor } from "../../activities/run/run-monitor.ts";
import {
  LIVE_FILE_EVERY_MS,
  LIVE_TEXT_CHARACTERS,
  liveFileSchema,
  toLiveFile,
} from "../../core/live-file.ts";
import { toStateFolder } from "../../core/state-folder.ts";
import { until } from "../support/real-session.ts";

const details = new RunMonitor(
  { attempt: 1, previous: undefined, model: "test/model", worker: "1@here" },
  0,
).toDetails();

test("a live file holds the latest details and the end of the text, is written seldom, and is taken away", async () => {
  const state = toStateFolder({ XDG_STATE_HOME: await mkdtemp(path.join(tmpdir(), "live-")) }, undefined);
  const file = toLiveFile(state, "session/1", "task-1");
  expect(path.dirname(file)).toBe(state.runs);
  const live = new LiveFile(state, { sessionId: "session/1", chain: "task-1" });
  const read = async () => liveFileSchema.parse(JSON.parse(await readFile(file, "utf8")));
  const versions = new Set<number>();
  const startedAtMs = Date.now();
  let last = "";
  const isShort = () => Date.now() - startedAtMs < 5 * LIVE_FILE_EVERY_MS;
  for (let turns = 1; isShort() || versions.size < 2; turns += 1) {
    last = `${"\ud83d\ude00".repeat(LIVE_TEXT_CHARACTERS)}x${turns} `;
    live.note({ ...details, turns, partialReport: "long" }, last);
    await sleep(1);
    await read().then(
      ({ atMs }) => versions.add(atMs),
      () => undefined,
    );
  }
  const seen = await until(read, ({ saying }) => last.trim().endsWith(saying.slice(-5)));
  expect(seen).toMatchObject({ sessionId: "session/1", chain: "task-1", details: { partialReport: "" } });
  expect(seen.saying.length).toBeLessThanOrEqual(LIVE_TEXT_CHARACTERS);
  expect(seen.saying.isWellFormed()).toBe(true);
  expect(versions.size).toBeGreaterThan(1);
  expect(versions.size).toBeLessThanOrEqual(Math.ceil((Date.now() - startedAtMs) / LIVE_FILE_EVERY_MS) + 1);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await live.end();
  live.note(details, "too late");
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("a live file of a later attempt is not taken away by an earlier one, and each writes to its own", async () => {
  const state = toStateFolder({ XDG_STATE_HOME: await mkdtemp(path.join(tmpdir(), "live-")) }, undefined);
  const run = { sessionId: "s", chain: "main" };
  const file = toLiveFile(state, run.sessionId, run.chain);
  const read = async () =>
    await readFile(file, "utf8").then(
      (text) => liveFileSchema.parse(JSON.parse(text)).details.attempt,
      () => 0,
    );
  const earlier = new LiveFile(state, run);
  earlier.note(details, "a longer text than the one after it");
  await until(read, (attempt) => attempt === 1);
  const later = new LiveFile(state, run);
  later.note({ ...details, attempt: 2 }, "short");
  await until(read, (attempt) => attempt === 2);
  earlier.note(details, "still here");
  await earlier.end();
  expect(await read()).toBe(2);
  await later.end();
  await expect(stat(file)).rejects.toThrow("ENOENT");
});
