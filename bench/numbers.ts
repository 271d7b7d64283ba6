/** Returns the median of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted.length >> 1;
  const high = sorted[upper] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[upper - 1] ?? Number.NaN) + high) / 2;
}

/** Adds numbers to sums, by index. */
export function addTo(sums: number[], numbers: readonly number[]): void {
  for (const [index, each] of numbers.entries()) sums[index] = (sums[index] ?? 0) + each;
}

/** Rounds to a number of decimals. */
export function round(value: number, decimals = 0): number {
  return Number(value.toFixed(decimals));
}
