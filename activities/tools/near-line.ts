import { bound } from "../../core/text.ts";

const MAX_LINES_COMPARED = 50_000;
const MIN_COMMON_CHARACTERS = 6;
const SHOWN_CHARACTERS = 300;

/** Point to the line that comes closest to the first line of a text that was not found; "" if none is close. */
export function describeNearLine(content: string, oldText: string): string {
  const wanted = oldText.split(/\r?\n/).find((line) => line.trim() !== "") ?? "";
  const squeezed = squeeze(wanted);
  let best = { number: 0, common: 0, line: "" };
  for (const [index, line] of content.split(/\r?\n/, MAX_LINES_COMPARED).entries()) {
    const candidate = squeeze(line);
    if (squeezed !== "" && candidate === squeezed) return toExactHint(index + 1, line, wanted);
    const common = countCommon(candidate, squeezed);
    if (common > best.common) best = { number: index + 1, common, line };
  }
  if (best.common < MIN_COMMON_CHARACTERS) return "";
  return `the nearest line is ${best.number}: ${show(best.line)}`;
}

function toExactHint(number: number, line: string, wanted: string): string {
  if (line === wanted) return `its first line is there, as line ${number}, but what follows differs`;
  return `line ${number} differs only in white space: ${show(line)}`;
}

function squeeze(line: string): string {
  return line.slice(0, 1_000).replace(/\s+/gu, "");
}

function countCommon(left: string, right: string): number {
  let count = 0;
  while (count < left.length && left[count] === right[count]) count += 1;
  return count;
}

function show(line: string): string {
  return JSON.stringify(bound(line, SHOWN_CHARACTERS, () => "…"));
}
