import { MAX_ANSWER_BYTES } from "./answer.ts";
import { BYTE_ORDER_MARK } from "./content-kind.ts";
import { cutUtf8, decodeUtf8, type LinePage } from "./line-page.ts";

export interface PageFacts {
  offset: number;
  size: number;
  /** Whether the page's `lineCount` is the file's. */
  isAtEnd: boolean;
  hasByteOrderMark: boolean;
}

/** Show a page of lines with their numbers, and after them what the reader must know about it. */
export function showPage(page: LinePage, facts: PageFacts): string {
  const lines: string[] = [];
  const notes: string[] = [];
  let invalidBytes = 0;
  let room = MAX_ANSWER_BYTES;
  let shown = 0;
  for (const [index, line] of page.lines.entries()) {
    const isFirstOfFile = facts.offset + index === 1;
    const bytes = isFirstOfFile && facts.hasByteOrderMark ? line.bytes.subarray(3) : line.bytes;
    const number = `${facts.offset + index}\t`;
    // The line's number and end count too; a page always shows at least a part of its first line.
    if (index > 0 && bytes.length + number.length + 1 > room) break;
    const cut = cutUtf8(bytes, Math.max(0, room - number.length - 1));
    const decoded = decodeUtf8(cut);
    invalidBytes += decoded.invalidBytes;
    lines.push(`${number}${decoded.text}`);
    room -= cut.length + number.length + 1;
    shown += 1;
    const size = line.size - (line.bytes.length - bytes.length);
    if (size > cut.length) {
      notes.push(
        `line ${facts.offset + index} has ${size} bytes, of which the first ${cut.length} are shown`,
      );
      break;
    }
  }
  const text = lines.join("\n");
  if (text.includes("\0")) notes.push("NUL characters are shown as ␀");
  if (invalidBytes > 0) notes.push(`${invalidBytes} bytes are not UTF-8 and are shown as \uFFFD`);
  if (page.hasCarriageReturns) notes.push("lines end in CR LF");
  if (facts.hasByteOrderMark)
    notes.push(`the file starts with a byte order mark (${BYTE_ORDER_MARK.length} bytes)`);
  return [text, `[${[toPlace(page, facts, shown), ...notes].join("; ")}]`].filter(Boolean).join("\n");
}

function toPlace(page: LinePage, { offset, size, isAtEnd }: PageFacts, shown: number): string {
  const last = offset + shown - 1;
  if (isAtEnd && page.lineCount === 0) return "the file is empty";
  if (shown === 0) return `nothing to show: the file has ${page.lineCount} lines`;
  if (isAtEnd && last >= page.lineCount) {
    const end = page.endsWithLineFeed ? "" : ", no line feed at the end";
    return `lines ${offset}-${last}, end of file${end}`;
  }
  const total = isAtEnd ? `of ${page.lineCount}` : `of a file of ${size} bytes`;
  return `lines ${offset}-${last} ${total}; go on with offset ${last + 1}`;
}
