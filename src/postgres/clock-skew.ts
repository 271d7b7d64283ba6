import type { Clock } from '../clock.ts';
import type { Run } from './statement.ts';

/** Clocks that differ by more would put counts into wrong minutes. */
export const maxSkewMs = 5000;

/** Compares this machine's clock with the engine's. @throws {Error} they differ by too much; it says what to do */
export async function checkClock(run: Run, clock: Pick<Clock, 'now'>): Promise<void> {
  const text = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at';
  const asked = clock.now();
  const { rows } = await run<{ at: bigint }>({ text });
  const why = whySkewed((asked + clock.now()) / 2 - Number(rows[0]!.at));
  if (why !== undefined) throw new Error(why);
}

/** @param skewMs how far this machine's clock is ahead of the engine's @returns `undefined` when that does no harm */
export function whySkewed(skewMs: number): string | undefined {
  if (Math.abs(skewMs) <= maxSkewMs) return undefined;
  const way = skewMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${way} the engine's, and 5 s are allowed; set it right (NTP), then start again`;
}
