/** What can still be promised of an item: on hand minus reserved, never below zero. */
export function available(item) {
  return Math.max(0, item.onHand - item.reserved);
}
