/**
 * Adjusts p-values for being several (S. Holm, "A simple sequentially rejective multiple test procedure", 1979): to call those
 * below α different is wrong anywhere with a probability of at most α, however they depend on each other.
 */
export function adjustByHolm(pValues: readonly number[]): number[] {
  const adjusted = new Array<number>(pValues.length);
  let last = 0;
  const ascending = [...pValues.entries()].sort(([, a], [, b]) => a - b);
  for (const [rank, [index, p]] of ascending.entries()) {
    last = Math.max(last, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = last;
  }
  return adjusted;
}
