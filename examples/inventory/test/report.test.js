import assert from "node:assert/strict";
import { test } from "node:test";
import { toReport } from "../src/report.js";

test("the report lists the stock, then the orders", () => {
  const hinge = { sku: "hinge", onHand: 8, reserved: 0, reorderPoint: 10, target: 30, pack: 4 };
  assert.equal(toReport([hinge]), "hinge: 8 available\n\norder 24 hinge");
});

test("without a due item there is nothing to order", () => {
  const nut = { sku: "nut", onHand: 90, reserved: 0, reorderPoint: 10, target: 30, pack: 4 };
  assert.equal(toReport([nut]), "nut: 90 available\n\nnothing to order");
});
