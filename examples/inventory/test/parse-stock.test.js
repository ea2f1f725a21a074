import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStock } from "../src/parse-stock.js";

const header = "sku,onHand,reserved,reorderPoint,target,pack";

test("a line becomes an item", () => {
  const item = { sku: "bolt", onHand: 12, reserved: 2, reorderPoint: 5, target: 20, pack: 10 };
  assert.deepEqual(parseStock(`${header}\nbolt,12,2,5,20,10\n`), [item]);
});

test("a broken line is refused with its number", () => {
  assert.throws(() => parseStock(`${header}\nbolt,12,2,5,20,10\nnut,many,0,5,20,10`), /line 3/);
});

test("another header is refused", () => {
  assert.throws(() => parseStock("sku,stock\nbolt,12"), /line 1/);
});
