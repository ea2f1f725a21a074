const columns = ["sku", "onHand", "reserved", "reorderPoint", "target", "pack"];

/** Turn the text of a stock list into items. A broken line is an error that names it. */
export function parseStock(text) {
  const [header = "", ...lines] = text.trimEnd().split(/\r?\n/);
  if (header !== columns.join(",")) throw new Error(`line 1: expected the columns ${columns.join(", ")}`);
  return lines.map((line, index) => parseLine(line, index + 2));
}

function parseLine(line, number) {
  const [sku = "", ...fields] = line.split(",");
  const numbers = fields.map((field) => (/^\d+$/.test(field) ? Number(field) : Number.NaN));
  if (sku === "" || numbers.length !== columns.length - 1 || numbers.some(Number.isNaN)) {
    throw new Error(`line ${number}: expected a name and five whole numbers`);
  }
  const [onHand, reserved, reorderPoint, target, pack] = numbers;
  if (pack === 0) throw new Error(`line ${number}: a pack holds at least one`);
  return { sku, onHand, reserved, reorderPoint, target, pack };
}
