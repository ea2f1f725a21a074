// Tier: real dev server, a worker in a process of its own, real tools, a strict provider over real HTTP.
import { expect, test } from "@jest/globals";
import { runChaos } from "../../bench/chaos-session.ts";

test("a worker that is killed at random moments under ten delegates loses no report and doubles no line", async () => {
  const kills = 4;
  const counts = await runChaos({ kills, seed: 20_260, log: () => undefined });
  expect(counts).toMatchObject({ violations: [], completed: 10, reports: 10, turnAttempts: kills + 1 });
  expect(counts.lines + counts.mayHaveRunAndDidNot).toBe(counts.commands);
}, 300_000);
