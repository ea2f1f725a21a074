/** Text that leaves this program is well formed, bounded and harmless to a terminal. */

/** Replace lone surrogates by U+FFFD, so that the text survives UTF-8. */
export function toWellFormed(text: string): string {
  return text.toWellFormed();
}

/** Cut to at most `limit` UTF-16 code units without splitting a surrogate pair. */
export function cutAt(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = Math.max(0, limit);
  const last = text.charCodeAt(end - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHighSurrogate ? end - 1 : end);
}

/** Cut to at most `limit` bytes of JSON in UTF-8, a closing ellipsis included, without splitting a character. */
export function cutAtBytes(text: string, limit: number): string {
  const wellFormed = toWellFormed(text);
  const mark = "…";
  let bytes = 0;
  let kept = 0;
  for (const character of wellFormed) {
    bytes += countBytes(character);
    if (bytes > limit) return wellFormed.slice(0, kept) + mark;
    if (bytes <= limit - countBytes(mark)) kept += character.length;
  }
  return wellFormed;
}

function countBytes(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return 6;
  if (character === '"' || character === "\\") return 2;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/**
 * Bound a text to `limit` code units, mark included. `toMark` is given the number of characters left out.
 * A limit smaller than the mark yields the mark's own beginning.
 */
export function bound(text: string, limit: number, toMark: (leftOut: number) => string): string {
  const wellFormed = toWellFormed(text);
  if (wellFormed.length <= limit) return wellFormed;
  const longestMark = toMark(wellFormed.length);
  const head = cutAt(wellFormed, limit - longestMark.length);
  return cutAt(head + toMark(wellFormed.length - head.length), limit);
}

/** Show control, format and bidirectional characters as escapes; line feeds and tabs stay where `multiline` is set. */
export function escapeControls(text: string, { multiline = false } = {}): string {
  return toWellFormed(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    if (multiline && (character === "\n" || character === "\t")) return character;
    const code = character.codePointAt(0) ?? 0;
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** Bring a text onto one line of at most `limit` characters, escaped. */
export function toOneLine(text: string, limit: number): string {
  return bound(escapeControls(text.replace(/\s+/gu, " ").trim()), limit, () => "…");
}

/** Write a number with its noun: `1 turn`, `2 turns`. */
export function toCountText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Write a word as a POSIX shell reads it back, quoted only where that is needed. */
export function toShellWord(word: string): string {
  return /^[\w.:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
