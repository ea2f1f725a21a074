import assert from "node:assert/strict";
import { test } from "node:test";
import { isDue, orderQuantity, suggestOrders } from "../src/reorder.js";

const item = { sku: "bolt", onHand: 100, reserved: 0, reorderPoint: 40, target: 200, pack: 50 };

test("an item above its reorder point is not due", () => {
  assert.equal(isDue(item), false);
  assert.equal(orderQuantity(item), 0);
});

test("a due item is ordered up to its target in whole packs", () => {
  assert.equal(orderQuantity({ ...item, onHand: 30 }), 200);
});

test("what is reserved counts as gone", () => {
  assert.deepEqual(suggestOrders([{ ...item, reserved: 80 }]), [{ sku: "bolt", quantity: 200 }]);
});
