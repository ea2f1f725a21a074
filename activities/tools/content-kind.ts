/** First bytes by which a kind of file is known. */
const signatures: Array<[kind: string, offset: number, bytes: number[]]> = [
  ["PNG image", 0, [0x89, 0x50, 0x4e, 0x47]],
  ["JPEG image", 0, [0xff, 0xd8, 0xff]],
  ["GIF image", 0, [0x47, 0x49, 0x46, 0x38]],
  ["WebP image", 8, [0x57, 0x45, 0x42, 0x50]],
  ["zip archive", 0, [0x50, 0x4b, 0x03, 0x04]],
  ["zip archive", 0, [0x50, 0x4b, 0x05, 0x06]],
  ["gzip data", 0, [0x1f, 0x8b]],
  ["bzip2 data", 0, [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59]],
  ["xz data", 0, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["Zstandard data", 0, [0x28, 0xb5, 0x2f, 0xfd]],
  ["7z archive", 0, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]],
  ["tar archive", 257, [0x75, 0x73, 0x74, 0x61, 0x72]],
  ["PDF document", 0, [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["ELF binary", 0, [0x7f, 0x45, 0x4c, 0x46]],
  ["Mach-O binary", 0, [0xcf, 0xfa, 0xed, 0xfe]],
  ["WebAssembly module", 0, [0x00, 0x61, 0x73, 0x6d]],
  ["SQLite database", 0, [...Buffer.from("SQLite format 3\0")]],
  ["MP4 media", 4, [0x66, 0x74, 0x79, 0x70]],
];

export const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Beginning of a file by which it is judged. */
export const SAMPLE_BYTES = 8_192;
/** More control characters than this share of the sample are not text. */
const MAX_CONTROL_SHARE = 0.1;

/**
 * Name what is no UTF-8 text by the beginning of its content; undefined for text. Bytes above 0x7f say nothing: they may be any
 * encoding, and a sample may end within a character.
 */
export function toBinaryKind(sample: Uint8Array): string | undefined {
  const utf16 = toUtf16Kind(sample);
  if (utf16) return utf16;
  for (const [kind, offset, bytes] of signatures) {
    if (bytes.every((byte, index) => sample[offset + index] === byte)) return kind;
  }
  if (sample.includes(0)) return "binary data";
  const controls = sample.reduce((count, byte) => count + (isControl(byte) ? 1 : 0), 0);
  return controls > sample.length * MAX_CONTROL_SHARE ? "binary data" : undefined;
}

function toUtf16Kind(sample: Uint8Array): string | undefined {
  if (sample[0] === 0xff && sample[1] === 0xfe) return "UTF-16 text (little-endian byte order mark)";
  if (sample[0] === 0xfe && sample[1] === 0xff) return "UTF-16 text (big-endian byte order mark)";
  return undefined;
}

function isControl(byte: number): boolean {
  // Tab, line feed, vertical tab, form feed, carriage return and escape occur in text.
  return (byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b) || byte === 0x7f;
}
