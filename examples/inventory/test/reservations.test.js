import assert from "node:assert/strict";
import { test } from "node:test";
import { release, reserve } from "../src/reservations.js";

const item = { sku: "bolt", onHand: 10, reserved: 4 };

test("what is reserved is no longer available", () => {
  assert.equal(reserve(item, 6).reserved, 10);
  assert.throws(() => reserve(item, 7), /only 6 available/);
});

test("no more is released than is reserved", () => {
  assert.equal(release(item, 9).reserved, 0);
});
