import { readFileSync } from "node:fs";
import { parseStock } from "./parse-stock.js";
import { toReport } from "./report.js";

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node src/cli.js FILE");
  process.exitCode = 2;
} else {
  console.log(toReport(parseStock(readFileSync(file, "utf8"))));
}
