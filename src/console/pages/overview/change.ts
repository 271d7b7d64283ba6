import { format } from '../../format.ts';

/** How a figure has moved. */
export interface Change {
  readonly direction: 'up' | 'down' | 'same';
  /** `3%`; above tenfold `×12`. */
  readonly size: string;
}

/** @returns `undefined` when there is nothing to compare with */
export function changeOf(now: number, before: number | undefined): Change | undefined {
  if (before === undefined || before === 0) return undefined;
  const ratio = now / before;
  const size = ratio >= 10 ? `×${format.compact(ratio)}` : format.percent(Math.abs(ratio - 1));
  if (size === format.percent(0)) return { direction: 'same', size };
  return { direction: ratio > 1 ? 'up' : 'down', size };
}
