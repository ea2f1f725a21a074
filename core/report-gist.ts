import { cutAt } from "./text.ts";

/** The part of a report that answers; the built-in definitions ask for such tags. */
const ANSWER = /<(answer|summary)>([\s\S]*?)(?:<\/\1>|$)/;
/** Enough for any line that is shown of it. */
const MAX_CHARACTERS = 1000;

/** Find what a report says in short: its answer or summary if it names one, else its beginning. Tags alone on a line are left out. */
export function toGist(report: string): string {
  const answer = ANSWER.exec(report)?.[2]?.trim();
  return cutAt(answer || report.replace(/^\s*<\/?[a-z]+>\s*$/gm, "").trim(), MAX_CHARACTERS);
}
