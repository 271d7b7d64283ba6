import { environmentAddress } from '../../address.ts';
import { format } from '../../format.ts';

/** Messages per second: `0`, `<0.1`, `0.4`, `12`, `1.2k`. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.1) return '<0.1';
  return perSecond < 10
    ? format.full(Math.round(perSecond * 10) / 10)
    : format.compact(Math.round(perSecond));
}

/** The flags of an environment that can go. */
export function cleanupOf(app: string, environment: string): string {
  return environmentAddress(app, environment, 'cleanup');
}
