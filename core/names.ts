/** Bring an agent's name into the form in which names are compared: trimmed, NFC, lower-case, blanks and underscores as dashes. */
export function normalizeAgentName(name: string): string {
  return name
    .trim()
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\s_]+/gu, "-");
}

/** The valid name nearest to `name` by edit distance, if it is near enough to be a slip of the hand. */
export function nearestName(name: string, valid: readonly string[]): string | undefined {
  const wanted = normalizeAgentName(name);
  let nearest: { candidate: string; distance: number } | undefined;
  for (const candidate of valid) {
    const distance = editDistance(wanted.slice(0, 64), candidate.slice(0, 64));
    if (nearest === undefined || distance < nearest.distance) nearest = { candidate, distance };
  }
  if (nearest === undefined) return undefined;
  return nearest.distance <= Math.max(2, Math.floor(nearest.candidate.length / 3))
    ? nearest.candidate
    : undefined;
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
