import { isUtf8 } from "node:buffer";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface PageBounds {
  /** Number of the first line, from 1. */
  offset: number;
  limit: number;
  maxBytes: number;
}

export interface PageLine {
  bytes: Buffer;
  /** Bytes of the whole line, its end not counted; above `bytes.length` where it was cut. */
  size: number;
}

/** Collects one page of lines out of chunks of any size, and counts what it does not keep. Memory is bounded by `maxBytes`. */
export class LinePage {
  readonly lines: PageLine[] = [];
  /** Lines seen so far, a last one without a line feed included once the end was said. */
  lineCount = 0;
  hasCarriageReturns = false;
  endsWithLineFeed = true;
  readonly #bounds: PageBounds;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #lineBytes = 0;
  #pageBytes = 0;
  #isFull = false;

  constructor(bounds: PageBounds) {
    this.#bounds = bounds;
  }

  /** Whether nothing that follows can change the page. */
  get isFull(): boolean {
    return this.#isFull;
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      const isWanted = !this.#isFull && this.lineCount + 1 >= this.#bounds.offset;
      if (!isWanted) {
        start = this.#skip(chunk, start);
        continue;
      }
      const end = chunk.indexOf(LINE_FEED, start);
      this.#keep(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) break;
      this.#endLine();
      start = end + 1;
    }
    if (chunk.length > 0) this.endsWithLineFeed = chunk[chunk.length - 1] === LINE_FEED;
  }

  /** Say that no chunk follows. */
  end(): void {
    if (!this.endsWithLineFeed) this.#endLine();
  }

  /** Count lines up to the first wanted one, or to the chunk's end if the page is full. */
  #skip(chunk: Buffer, start: number): number {
    const target = this.#isFull ? Number.POSITIVE_INFINITY : this.#bounds.offset - 1;
    let next = start;
    while (this.lineCount < target) {
      const end = chunk.indexOf(LINE_FEED, next);
      if (end === -1) return chunk.length;
      this.lineCount += 1;
      next = end + 1;
    }
    return next;
  }

  #keep(part: Buffer): void {
    this.#lineBytes += part.length;
    const room = this.#bounds.maxBytes - this.#keptBytes;
    if (room <= 0 || part.length === 0) return;
    // A copy, since the chunk's memory is used again.
    const kept = Buffer.from(part.subarray(0, room));
    this.#kept.push(kept);
    this.#keptBytes += kept.length;
  }

  #endLine(): void {
    this.lineCount += 1;
    const { offset, limit, maxBytes } = this.#bounds;
    if (!this.#isFull && this.lineCount >= offset) {
      const bytes = Buffer.concat(this.#kept);
      const fits = this.#pageBytes + this.#lineBytes <= maxBytes;
      if (fits || this.lines.length === 0) this.#addLine(bytes);
      if (!fits || this.lines.length >= limit) this.#isFull = true;
    }
    this.#kept = [];
    this.#keptBytes = 0;
    this.#lineBytes = 0;
  }

  #addLine(bytes: Buffer): void {
    const hasReturn = this.#lineBytes === bytes.length && bytes[bytes.length - 1] === CARRIAGE_RETURN;
    this.hasCarriageReturns ||= hasReturn;
    const size = this.#lineBytes - (hasReturn ? 1 : 0);
    this.lines.push({ bytes: hasReturn ? bytes.subarray(0, -1) : bytes, size });
    this.#pageBytes += this.#lineBytes;
  }
}

export interface DecodedText {
  text: string;
  /** Bytes that are no UTF-8 and are shown as U+FFFD. */
  invalidBytes: number;
}

/** Decode UTF-8 and count what had to be replaced. */
export function decodeUtf8(bytes: Buffer): DecodedText {
  const text = bytes.toString("utf8");
  if (isUtf8(bytes)) return { text, invalidBytes: 0 };
  const replaced = countOf(text, "\uFFFD") - countOf(bytes.toString("latin1"), "\xef\xbf\xbd");
  return { text, invalidBytes: bytes.length - (Buffer.byteLength(text) - 3 * replaced) };
}

/** Cut bytes to at most `limit` without leaving a part of a character at the end. */
export function cutUtf8(bytes: Buffer, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  let end = limit;
  // A character has at most three continuation bytes.
  for (let back = 0; back < 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80; back++) end -= 1;
  return bytes.subarray(0, ((bytes[end] ?? 0) & 0xc0) === 0x80 ? limit : end);
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
