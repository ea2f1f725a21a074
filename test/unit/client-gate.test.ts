import { describe, expect, test } from "@jest/globals";
import { createGate } from "../../client/gate.ts";

describe("a gate", () => {
  test("lets at most so many through at a time, in order, and goes on after a failure", async () => {
    const gate = createGate(2);
    const order: number[] = [];
    let inside = 0;
    const results = await Promise.allSettled(
      [1, 2, 3, 4, 5].map((number) =>
        gate.pass(async () => {
          order.push(number);
          inside += 1;
          expect(inside).toBeLessThanOrEqual(2);
          await new Promise((resolve) => setTimeout(resolve, 2));
          inside -= 1;
          if (number === 2) throw new Error("two");
          return number;
        }),
      ),
    );
    expect(order).toEqual([1, 2, 3, 4, 5]);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
  });

  test("is left at once by a call that is given up, which then never runs", async () => {
    const gate = createGate(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = gate.pass(() => promise);
    const controller = new AbortController();
    let hasRun = false;
    const second = gate.pass(async () => {
      hasRun = true;
    }, controller.signal);
    const third = gate.pass(async () => "third");
    const reason = new Error("given up");
    controller.abort(reason);
    await expect(second).rejects.toBe(reason);
    await expect(gate.pass(async () => undefined, controller.signal)).rejects.toBe(reason);
    resolve();
    await first;
    expect(await third).toBe("third");
    expect(hasRun).toBe(false);
  });
});
