/**
 * Share `budget` among needs equally; what one does not need goes to the others. Order does not matter.
 *
 * @returns one whole number a need, at most that need, with a sum of at most `budget`.
 */
export function shareEqually(needs: readonly number[], budget: number): number[] {
  const shares = needs.map(() => 0);
  const waiting = needs
    .map((need, index) => ({ need, index }))
    .toSorted((left, right) => left.need - right.need);
  let left = Math.max(0, Math.floor(budget));
  for (const [position, { need, index }] of waiting.entries()) {
    const share = Math.min(need, Math.floor(left / (waiting.length - position)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
