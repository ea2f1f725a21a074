/** Whether an item has to be reordered. */
export function isDue(item) {
  return item.onHand < item.reorderPoint;
}

/** How many to order: up to the target, in whole packs. */
export function orderQuantity(item) {
  if (!isDue(item)) return 0;
  const missing = item.target - item.onHand;
  return Math.ceil(missing / item.pack) * item.pack;
}

/** The orders to place for a list of items, in the list's order. */
export function suggestOrders(items) {
  return items.filter(isDue).map((item) => ({ sku: item.sku, quantity: orderQuantity(item) }));
}
