import { available } from "./availability.js";
import { suggestOrders } from "./reorder.js";

/** Write the report: one line an item, then what to order. */
export function toReport(items) {
  const stock = items.map((item) => `${item.sku}: ${available(item)} available`);
  const orders = suggestOrders(items).map(({ sku, quantity }) => `order ${quantity} ${sku}`);
  return [...stock, "", ...(orders.length > 0 ? orders : ["nothing to order"])].join("\n");
}
