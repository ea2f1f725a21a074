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

/** Break a text into at most `count` lines of a terminal: escaped, line ends too; a last line counts what does not fit. */
export function toTerminalLines(text: string, columns: number, count: number): string[] {
  const width = Math.max(1, columns);
  const lines: string[] = [];
  let rest = escapeControls(text);
  let last = "";
  while (rest !== "" && lines.length < count) {
    last = takeLine(rest, width);
    lines.push(toTerminalLine(last, width));
    rest = rest.slice(last.length);
  }
  if (rest === "") return lines;
  const leftOut = `[${last.length + rest.length} more characters]`;
  return [...lines.slice(0, -1), toTerminalLine(leftOut, width)];
}

/** At least one character, so that there is an end. */
function takeLine(text: string, columns: number): string {
  let line = "";
  let width = 0;
  for (const { segment } of segmenter.segment(text.slice(0, 4 * columns + 100))) {
    width += stringWidth(segment);
    if (width > columns && line !== "") break;
    line += segment;
  }
  return line;
}

/** Make one line of the end of a text, as far as it fits: what is being said right now. */
export function toTailLine(text: string, columns: number): string {
  const end = text.slice(-(4 * columns + 100));
  const line = escapeControls(end.replace(/\s+/gu, " ").trim());
  if (end.length === text.length && stringWidth(line) <= columns) return line;
  let shown = "";
  let width = 1;
  for (const { segment } of [...segmenter.segment(line)].reverse()) {
    width += stringWidth(segment);
    if (width > columns) break;
    shown = segment + shown;
  }
  return columns > 0 ? `…${shown}` : "";
}
