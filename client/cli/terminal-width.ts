import stringWidth from "string-width";
import { escapeControls } from "../../core/text.ts";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Make one line for a terminal of at most `columns` columns: escaped, wide characters counted as two, cut between characters as a person
 * sees them, with an ellipsis where it was cut.
 */
export function toTerminalLine(text: string, columns: number): string {
  // More than this can't be seen anyway, and measuring a megabyte would take a while.
  const line = escapeControls(text.slice(0, 4 * columns + 100).replace(/[^\S ]+/gu, " "));
  const isWhole = text.length <= 4 * columns + 100;
  if (isWhole && stringWidth(line) <= columns) return line;
  let shown = "";
  let width = 0;
  for (const { segment } of segmenter.segment(line)) {
    const next = stringWidth(segment);
    if (width + next > columns - 1) break;
    shown += segment;
    width += next;
  }
  return columns > 0 ? `${shown}…` : "";
}

/** Fill up to a number of columns; a longer text is cut. */
export function padToWidth(text: string, columns: number): string {
  const line = toTerminalLine(text, columns);
  return line + " ".repeat(Math.max(0, columns - stringWidth(line)));
}
