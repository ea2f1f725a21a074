/** Characters of an agent's name, counted as code points. */
const MAX_NAME_CHARACTERS = 64;

/**
 * Bring an agent's name into the form in which names are compared: trimmed, NFC, lower-case, blanks and underscores as dashes.
 *
 * Idempotent, and independent of the machine's language: a Turkish capital dotted I becomes `i` with a dot above everywhere.
 */
export function normalizeAgentName(name: string): string {
  return (
    name
      .trim()
      .normalize("NFC")
      .toLowerCase()
      // Lower-casing can leave a pair that NFC would have joined.
      .normalize("NFC")
      .replace(/[\s_]+/gu, "-")
  );
}

/** Say what is wrong with a name in its normalized form; undefined if it can be used. */
export function findNameFault(normalized: string): string | undefined {
  if (normalized === "") return "is empty";
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(normalized)) return "holds a control character";
  if (/\p{Bidi_Control}/u.test(normalized)) return "holds a character that changes the direction of text";
  if (/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(normalized)) return "holds an invisible character";
  if (/[/\\]/u.test(normalized) || /^\.+$/u.test(normalized)) return "looks like a path";
  if ([...normalized].length > MAX_NAME_CHARACTERS) return `has more than ${MAX_NAME_CHARACTERS} characters`;
  // A mark belongs to the letter before it: many scripts can't be written without.
  if (!/^(?:[\p{L}\p{Nd}]\p{M}*|[.-])+$/u.test(normalized)) {
    return "may hold letters, digits, dots and dashes only";
  }
  return /[\p{L}\p{Nd}]/u.test(normalized) ? undefined : "needs a letter or a digit";
}

/**
 * The valid name nearest to `name` by edit distance, if it is near enough to be a slip of the hand. A long part of a name counts too,
 * behind whole names: `reviwer` is near to `code-reviewer`.
 */
export function nearestName(name: string, valid: readonly string[]): string | undefined {
  const wanted = normalizeAgentName(name).slice(0, MAX_NAME_CHARACTERS);
  let nearest: { candidate: string; distance: number } | undefined;
  for (const candidate of valid) {
    const distance = Math.min(
      toSlip(wanted, candidate, 2),
      ...toLongParts(candidate).map((part) => toSlip(wanted, part, 1) + 1),
    );
    if (distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) nearest = { candidate, distance };
  }
  return nearest?.candidate;
}

function toLongParts(candidate: string): string[] {
  const parts = candidate.split(/[.-]/u);
  return parts.length > 1 ? parts.filter((part) => part.length >= 5) : [];
}

/** The edit distance, or infinity if it is too far for a slip: a third of the word, or `least` in a short one. */
function toSlip(wanted: string, word: string, least: number): number {
  const distance = editDistance(wanted, word.slice(0, MAX_NAME_CHARACTERS));
  return distance <= Math.max(least, Math.floor(word.length / 3)) ? distance : Number.POSITIVE_INFINITY;
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
