import { available } from "./availability.js";

/** Reserve stock for an order. Returns a new item; refuses more than is available. */
export function reserve(item, quantity) {
  if (quantity > available(item)) {
    throw new RangeError(`${item.sku}: only ${available(item)} available, ${quantity} wanted`);
  }
  return { ...item, reserved: item.reserved + quantity };
}

/** Give reserved stock back. Returns a new item; never releases more than is reserved. */
export function release(item, quantity) {
  return { ...item, reserved: Math.max(0, item.reserved - quantity) };
}
