import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { createBashTool } from "../../activities/tools/bash.ts";
import { startTimer, toTimeout } from "../../activities/tools/command-timeout.ts";
import { BASH_TIMEOUT_SECONDS } from "../../core/limits.ts";
import { openBash } from "./bash-support.ts";

describe("timeoutSeconds", () => {
  test("is 600 by default, and never above the ceiling", () => {
    expect(BASH_TIMEOUT_SECONDS).toBe(600);
    expect(toTimeout(undefined, 600, 21_600)).toEqual({ seconds: 600, note: undefined });
    expect(toTimeout(undefined, 600, 20)).toEqual({ seconds: 20, note: undefined });
  });

  test.each([[0], [-1], [-Infinity], [Number.NaN]])("%s is refused with the bounds", (wished) => {
    expect(toTimeout(wished, 600, 21_600)).toEqual({
      problem: `timeoutSeconds is ${wished}: give a number of seconds from 1 to 21600, or leave it out for 600.`,
    });
  });

  test.each([
    [0.5, 1],
    [21_601, 21_600],
    [2_147_483, 21_600],
    [2_147_483_647, 21_600],
    [2_147_483_648, 21_600],
    [1e15, 21_600],
    [Infinity, 21_600],
  ])("%s is taken as %s, with a note", (wished, seconds) => {
    expect(toTimeout(wished, 600, 21_600)).toEqual({
      seconds,
      note: `timeoutSeconds ${wished} was taken as ${seconds}.`,
    });
  });

  test("a number given as text is read, other text is not; the model is told a number", () => {
    const { input } = createBashTool();
    expect(input.parse({ command: "x", timeoutSeconds: "600" })).toEqual({
      command: "x",
      timeoutSeconds: 600,
    });
    for (const timeoutSeconds of ["soon", "", "600s", true, [], {}, Number.NaN]) {
      expect(input.safeParse({ command: "x", timeoutSeconds }).success).toBe(false);
    }
    const schema = z.toJSONSchema(input, { io: "input" });
    expect(schema).toMatchObject({
      required: ["command"],
      properties: { timeoutSeconds: { type: "number" } },
    });
  });

  test.each([[2_147_483], [2_147_483.648], [2_147_484], [1e15]])(
    "a real command with %s s and no lower ceiling runs to its own end",
    async (seconds) => {
      using bash = openBash();
      bash.context.maxSeconds = 1e15;
      expect(await bash.run("sleep 0.3; echo done", seconds)).toMatchObject({
        text: "done\n",
        isError: false,
      });
    },
  );

  test("zero runs nothing", async () => {
    using bash = openBash();
    expect(await bash.run("echo ran", 0)).toMatchObject({ isError: true });
    expect((await bash.run("echo ran", 0)).text).not.toMatch(/ran$/);
  });
});

describe("a timer", () => {
  test("longer than Node's longest goes off once, after all of its time", async () => {
    const start = performance.now();
    await new Promise<void>((resolve) => startTimer(350, resolve, 100));
    expect(performance.now() - start).toBeGreaterThanOrEqual(349);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  test("that was called off in a later stretch does not go off", async () => {
    let fired = 0;
    const callOff = startTimer(
      200,
      () => {
        fired += 1;
      },
      50,
    );
    await new Promise<void>((resolve) => startTimer(120, resolve));
    callOff();
    await new Promise<void>((resolve) => startTimer(200, resolve));
    expect(fired).toBe(0);
  });
});
