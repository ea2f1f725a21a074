/** Bytes that the model gets to see: the beginning says what ran, the end how it went. */
export const HEAD_BYTES = 10 * 1024;
export const TAIL_BYTES = 20 * 1024;
/** Unreadable output is named, with a sample: it would cost the model much and tell it nothing. */
const BINARY_SAMPLE_CHARACTERS = 400;
const BINARY_SHARE = 0.1;

export interface OutputText {
  /** Well formed; at most {@link HEAD_BYTES} + {@link TAIL_BYTES} code units and one line where something was left out. */
  text: string;
  totalBytes: number;
  /** Bytes that are not in the text. */
  leftOutBytes: number;
  isBinary: boolean;
}

/**
 * Keeps the beginning and the end of any number of bytes in fixed memory, in time proportional to their number.
 * How the bytes are divided into chunks makes no difference.
 */
export class OutputCollector {
  totalBytes = 0;
  readonly #head = Buffer.allocUnsafe(HEAD_BYTES);
  /** A ring: the byte at position p of what follows the head lies at p modulo its size. */
  readonly #tail = Buffer.allocUnsafe(TAIL_BYTES);

  add(chunk: Uint8Array): void {
    const forHead = Math.min(chunk.length, Math.max(0, HEAD_BYTES - this.totalBytes));
    if (forHead > 0) this.#head.set(chunk.subarray(0, forHead), this.totalBytes);
    const rest = chunk.subarray(forHead);
    const skipped = Math.max(0, rest.length - TAIL_BYTES);
    const position = (Math.max(0, this.totalBytes - HEAD_BYTES) + skipped) % TAIL_BYTES;
    const kept = rest.subarray(skipped);
    const untilEdge = kept.subarray(0, TAIL_BYTES - position);
    this.#tail.set(untilEdge, position);
    this.#tail.set(kept.subarray(untilEdge.length), 0);
    this.totalBytes += chunk.length;
  }

  /** Whether nothing had to be left out so far. */
  get isWhole(): boolean {
    return this.hasRoomFor(0);
  }

  hasRoomFor(bytes: number): boolean {
    return this.totalBytes + bytes <= HEAD_BYTES + TAIL_BYTES;
  }

  /** Everything, while that {@link isWhole}. */
  toWhole(): Buffer {
    const headBytes = Math.min(this.totalBytes, HEAD_BYTES);
    return Buffer.concat([
      this.#head.subarray(0, headBytes),
      this.#tail.subarray(0, this.totalBytes - headBytes),
    ]);
  }

  toText(): OutputText {
    const parts = this.isWhole
      ? [this.toWhole()]
      : [withoutCutEnd(this.#head), withoutCutStart(this.#unrollTail())];
    const shown = parts.reduce((sum, part) => sum + part.length, 0);
    const texts = parts.map(toReadable);
    const isBinary = toUnreadableShare(texts) > BINARY_SHARE;
    const leftOutBytes = this.totalBytes - shown;
    const { totalBytes } = this;
    if (isBinary) return { text: toSample(texts), totalBytes, leftOutBytes, isBinary };
    const mark = `\n[… ${leftOutBytes} of ${totalBytes} bytes left out here …]\n`;
    return { text: texts.join(mark), totalBytes, leftOutBytes, isBinary };
  }

  #unrollTail(): Buffer {
    const oldest = (this.totalBytes - HEAD_BYTES) % TAIL_BYTES;
    return Buffer.concat([this.#tail.subarray(oldest), this.#tail.subarray(0, oldest)]);
  }
}

/** Leave out the beginning of a character whose end was cut off. */
function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Leave out the end of a character whose beginning was cut off. */
function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

/** Decode; what is no text shows as U+FFFD or as the picture of its control character. */
function toReadable(bytes: Buffer): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** The share of replaced characters; those that terminals understand, such as colours, are no sign of binary data. */
function toUnreadableShare(texts: readonly string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const unreadable = texts.reduce(
    (sum, text) => sum + (text.match(/[\ufffd\u2400-\u2406]/g)?.length ?? 0),
    0,
  );
  return length === 0 ? 0 : unreadable / length;
}

function toSample(texts: readonly string[]): string {
  const text = texts.join("");
  const isShort = text.length <= BINARY_SAMPLE_CHARACTERS;
  // A cut may split a pair: what is left of it is replaced too.
  return isShort ? text : `${text.slice(0, BINARY_SAMPLE_CHARACTERS).toWellFormed()}…`;
}
