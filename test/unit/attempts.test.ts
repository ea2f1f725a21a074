// Tier: no server.
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { AgentRunDetails } from "../../core/agent-run.ts";
import { countLosses } from "../../core/attempts.ts";
import { MAX_WORKER_LOSSES } from "../../core/limits.ts";
import { noUsage } from "../../core/status.ts";

const toDetails = (changes: Partial<AgentRunDetails>): AgentRunDetails => ({
  attempt: 1,
  phase: "model",
  turns: 0,
  toolCalls: 0,
  startedAtMs: 0,
  lastEventAtMs: 0,
  usage: noUsage,
  partialReport: "",
  denials: [],
  journalLines: 0,
  losses: 0,
  turnsAtStart: 0,
  handedBack: false,
  worker: "",
  ...changes,
});

interface Attempt {
  end: "killed" | "killed-mute" | "handed-back";
  turns: number;
}
const attempt = fc.record({
  end: fc.constantFrom<Attempt["end"]>("killed", "killed-mute", "handed-back"),
  turns: fc.nat({ max: 2 }),
});

/** Play attempts one after another as the server and the journal keep them; gives the losses that each next one counts. */
function play(attempts: readonly Attempt[]): number[] {
  let previous: AgentRunDetails | undefined;
  let turns = 0;
  return attempts.map(({ end, turns: finished }, index) => {
    const number = index + 1;
    const losses = countLosses(number, previous, turns);
    // One that dies before its first heartbeat has done nothing.
    if (end !== "killed-mute") {
      const turnsAtStart = turns;
      turns += finished;
      previous = toDetails({
        attempt: number,
        turns,
        turnsAtStart,
        losses,
        handedBack: end === "handed-back",
      });
    }
    return countLosses(number + 1, previous, turns);
  });
}

describe("losses", () => {
  test("are none at a first attempt, whatever is told of others", () => {
    expect(countLosses(1, undefined, 0)).toBe(0);
    expect(countLosses(1, toDetails({ attempt: 3, losses: 2 }), 0)).toBe(0);
  });

  test("add up to the end of a run in a crash loop", () => {
    expect(play(Array.from({ length: MAX_WORKER_LOSSES }, () => ({ end: "killed", turns: 0 })))).toEqual([
      1, 2, 3,
    ]);
    expect(play(Array.from({ length: MAX_WORKER_LOSSES }, () => ({ end: "killed-mute", turns: 0 })))).toEqual(
      [1, 2, 3],
    );
  });

  test("are forgotten once a turn is finished", () => {
    expect(
      play([
        { end: "killed", turns: 0 },
        { end: "killed", turns: 0 },
        { end: "killed", turns: 1 },
        { end: "killed", turns: 0 },
      ]),
    ).toEqual([1, 2, 1, 2]);
  });

  test("are never made by handing back, however often, and handing back forgives none", () => {
    expect(play(Array.from({ length: 50 }, () => ({ end: "handed-back", turns: 0 })))).toEqual(
      Array(50).fill(0),
    );
    expect(
      play([
        { end: "killed", turns: 0 },
        { end: "handed-back", turns: 0 },
        { end: "killed", turns: 0 },
      ]),
    ).toEqual([1, 1, 2]);
  });

  test("are the kills since the last attempt that finished a turn, that one's own included", () => {
    fc.assert(
      fc.property(fc.array(attempt, { minLength: 1, maxLength: 20 }), (attempts) => {
        const expected = attempts.map((_, index) => {
          const past = attempts.slice(0, index + 1);
          const last = past.findLastIndex(({ end, turns }) => end !== "killed-mute" && turns > 0);
          return past.slice(Math.max(0, last)).filter(({ end }) => end !== "handed-back").length;
        });
        expect(play(attempts)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});
