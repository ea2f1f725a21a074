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
  for (let turns = 1; Date.now() - startedAtMs < 5 * LIVE_FILE_EVERY_MS; turns += 1) {
    last = `${"\ud83d\ude00".repeat(LIVE_TEXT_CHARACTERS)}x${turns} `;
    live.note({ ...details, turns, partialReport: "long" }, last);
    await sleep(1);
    await stat(file).then(
      ({ ino }) => versions.add(ino),
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
