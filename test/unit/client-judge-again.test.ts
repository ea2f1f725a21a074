import { describe, expect, test } from "@jest/globals";
import { judgeAgain } from "../../client/judge-again.ts";
import { refusals, type SessionView } from "../../core/messages.ts";
import { SessionRefusal } from "../../core/session-port.ts";

type Shown = { turn: "running" | "completed"; running: number };

/** A session that refuses with the codes given, one a judgement, and then answers. */
function toSession(codes: readonly string[], { turn, running }: Shown) {
  let judgements = 0;
  const view = {
    turns: [{ number: 4, status: turn }],
    delegations: Array.from({ length: running }, () => ({ status: "running" })),
    runningCap: 10,
  } as SessionView;
  return {
    call: async () => {
      const code = codes[judgements];
      judgements += 1;
      if (code !== undefined) throw new SessionRefusal(code, `refused: ${code}`);
      return "taken";
    },
    view: async () => view,
    countJudgements: () => judgements,
  };
}

describe("a call that was refused for a state that has passed is judged again", () => {
  test.each([
    [refusals.turnRunning, { turn: "completed", running: 0 }],
    [refusals.capReached, { turn: "running", running: 9 }],
    [refusals.turnOver, { turn: "running", running: 0 }],
  ] as const)("%s", async (code, shown) => {
    const session = toSession([code], shown);
    expect(await judgeAgain(session.call, session.view, 4)).toBe("taken");
    expect(session.countJudgements()).toBe(2);
  });

  test("three times at most", async () => {
    const session = toSession(Array(5).fill(refusals.capReached), { turn: "running", running: 9 });
    await expect(judgeAgain(session.call, session.view)).rejects.toMatchObject({
      code: refusals.capReached,
    });
    expect(session.countJudgements()).toBe(3);
  });
});

describe("a refusal that still holds is the answer", () => {
  test("also where it can't be found out whether it holds", async () => {
    const session = toSession([refusals.capReached], { turn: "running", running: 9 });
    const view = async () => {
      throw new Error("no worker answered");
    };
    await expect(judgeAgain(session.call, view)).rejects.toMatchObject({ code: refusals.capReached });
  });

  test.each([
    [refusals.turnRunning, { turn: "running", running: 0 }, 4],
    [refusals.capReached, { turn: "running", running: 10 }, 4],
    [refusals.turnOver, { turn: "running", running: 0 }, 3],
    [refusals.turnOver, { turn: "completed", running: 0 }, 4],
    [refusals.unknownAgent, { turn: "running", running: 0 }, 4],
  ] as const)("%s with %o", async (code, shown, turn) => {
    const session = toSession([code], shown);
    await expect(judgeAgain(session.call, session.view, turn)).rejects.toMatchObject({ code });
    expect(session.countJudgements()).toBe(1);
  });
});
