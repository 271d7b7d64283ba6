import type { ReportHead } from './report.ts';

/** Numbers that an entry takes: two or three names, then its counts, or its value and time. */
export const entryWidth = 5;

/** Numbers that a user takes: the feature, then both halves of the hash. */
export const userWidth = 3;

/** Stands for a name that an entry does not have, and for the environment in place of a feature. */
export const noName = -1;

/**
 * A report in a few arrays, which cross from one thread to another without being copied. Objects and texts would be made
 * again on the other side, all at once.
 */
export interface CondensedReport extends ReportHead {
  readonly kind: 'usage' | 'metrics';
  readonly appVersion: string | undefined;
  readonly statCount: number;
  /** Valid names, each once, as UTF-8. */
  readonly names: Uint8Array;
  /** Where each name ends. */
  readonly nameEnds: Uint32Array;
  /** Usage: feature, variant, checks, used, viewed. Metrics: metric, feature, variant, value, time. Names by their place. */
  readonly entries: Float64Array;
  readonly users: Float64Array;
  /** Whether entries were left out because their names are not valid. */
  readonly dropped: boolean;
  /** See `contentSumOf`. */
  readonly contentSum: readonly [number, number];
  /** What counting it costs, in entries. */
  readonly work: number;
}
