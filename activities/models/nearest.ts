/** Rank `candidates` by likeness to `text` and return the best few, for a message that says what was probably meant. */
export function nearestTexts(text: string, candidates: readonly string[], count: number): string[] {
  const wanted = toPairs(text);
  return candidates
    .map((candidate) => ({ candidate, likeness: toLikeness(wanted, toPairs(candidate)) }))
    .filter(({ likeness }) => likeness >= 0.25)
    .sort(
      (left, right) => right.likeness - left.likeness || left.candidate.localeCompare(right.candidate, "en"),
    )
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** The share of neighbouring letters that two texts have in common (Dice's coefficient over pairs), from 0 to 1. */
function toLikeness(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size + right.size === 0) return 0;
  let shared = 0;
  for (const pair of left) if (right.has(pair)) shared++;
  return (2 * shared) / (left.size + right.size);
}

function toPairs(text: string): ReadonlySet<string> {
  const letters = ` ${text.toLowerCase().slice(0, 200)} `;
  const pairs = new Set<string>();
  for (let index = 0; index + 1 < letters.length; index++) pairs.add(letters.slice(index, index + 2));
  return pairs;
}
