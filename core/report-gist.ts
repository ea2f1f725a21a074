import { cutAt } from "./text.ts";

/** More of a report than this is not looked at: a list of a hundred is written again with every step of a session. */
const MAX_READ_CHARACTERS = 12_000;
/** Enough for any line that is shown of it. */
const MAX_CHARACTERS = 1000;
/** The parts of a report that answer; the built-in definitions ask for such tags. */
const ANSWERING_TAGS = ["answer", "summary"];
const TAG_ALONE = /^<\/?[a-z]+>$/;

/**
 * Find what a report says in short: its answer or summary if it names one, else its beginning. Tags alone on a line are left out. Takes time in
 * proportion to the report, whatever is in it: workflow code has five seconds a step.
 */
export function toGist(report: string): string {
  const text = cutAt(report, MAX_READ_CHARACTERS);
  return cutAt(findAnswer(text) || dropLoneTags(text), MAX_CHARACTERS);
}

function findAnswer(text: string): string {
  const found = ANSWERING_TAGS.map((tag) => ({ tag, at: text.indexOf(`<${tag}>`) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at - other.at)[0];
  if (found === undefined) return "";
  const start = found.at + found.tag.length + 2;
  const end = text.indexOf(`</${found.tag}>`, start);
  return text.slice(start, end < 0 ? undefined : end).trim();
}

function dropLoneTags(text: string): string {
  const lines = text.split("\n").filter((line) => !TAG_ALONE.test(line.trim()));
  return lines.join("\n").trim();
}
