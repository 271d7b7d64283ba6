/** A machine whose clock is further from PostgreSQL's manages nothing: what it shows people and tokens would be wrong. */
export const maxSkewMs = 5000;

/** @param skewMs how far this machine's clock is ahead of PostgreSQL's @returns `undefined` when that does no harm */
export function whySkewed(skewMs: number): string | undefined {
  if (Math.abs(skewMs) <= maxSkewMs) return undefined;
  const way = skewMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${way} PostgreSQL's; the limit is 5 s. Correct the clock (NTP)`;
}
