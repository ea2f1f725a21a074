import stringWidth from "string-width";
import { padToWidth } from "./terminal-width.ts";

const MAX_COLUMN_WIDTH = 60;

/** Write rows as a table with aligned columns, the first row as its head. Safe for a terminal; no cell is wider than 60 columns. */
export function toTable(rows: readonly (readonly string[])[]): string {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.min(MAX_COLUMN_WIDTH, Math.max(0, ...rows.map((row) => toCellWidth(row[column] ?? "")))),
  );
  return rows
    .map((row) =>
      widths
        .map((width, column) => padToWidth(row[column] ?? "", width))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function toCellWidth(cell: string): number {
  return stringWidth(padToWidth(cell, MAX_COLUMN_WIDTH).trimEnd());
}
