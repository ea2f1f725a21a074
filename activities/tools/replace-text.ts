/** A place in a text, in UTF-16 code units. */
export interface Match {
  start: number;
  end: number;
}

export interface TextReplacement {
  oldText: string;
  newText: string;
  matches: readonly Match[];
}

/**
 * Find a text whatever the line ends of either side are: LF in one matches CR LF in the other.
 *
 * Matches do not overlap; positions are those of the unchanged `content`.
 */
export function findText(content: string, oldText: string): Match[] {
  const needle = withLineFeeds(oldText);
  if (needle === "") return [];
  const hay = withLineFeeds(content);
  const returns = hay.length === content.length ? [] : toReturnPositions(content);
  const matches: Match[] = [];
  for (let start = hay.indexOf(needle); start !== -1; start = hay.indexOf(needle, start + needle.length)) {
    matches.push({
      start: start + countBelow(returns, start),
      end: start + needle.length + countBelow(returns, start + needle.length),
    });
  }
  return matches;
}

/** Put `newText` in place of every match, with the line ends of the file. */
export function replaceText(content: string, { newText, matches }: TextReplacement): string {
  const parts: string[] = [];
  let position = 0;
  for (const { start, end } of matches) {
    parts.push(content.slice(position, start), withLineEnds(newText, content, { start, end }));
    position = end;
  }
  parts.push(content.slice(position));
  return parts.join("");
}

/** Number of the line, from 1, in which a position lies. */
export function toLineNumber(content: string, position: number): number {
  let line = 1;
  for (let at = content.indexOf("\n"); at !== -1 && at < position; at = content.indexOf("\n", at + 1)) {
    line += 1;
  }
  return line;
}

function withLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** The line ends of the replaced text itself, or of the file where that has none. */
function withLineEnds(newText: string, content: string, { start, end }: Match): string {
  const own = /\r?\n/.exec(content.slice(start, end)) ?? /\r?\n/.exec(content);
  if (own === null) return newText;
  const unified = withLineFeeds(newText);
  return own[0] === "\r\n" ? unified.replaceAll("\n", "\r\n") : unified;
}

/** Where, in the text with line feeds alone, a CR stood in front of a line feed. */
function toReturnPositions(content: string): number[] {
  const positions: number[] = [];
  for (let at = content.indexOf("\r\n"); at !== -1; at = content.indexOf("\r\n", at + 2)) {
    positions.push(at - positions.length);
  }
  return positions;
}

/** How many of the ascending `positions` are below `limit`. */
function countBelow(positions: readonly number[], limit: number): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
