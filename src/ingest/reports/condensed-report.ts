import type { ReportHead } from './report.ts';

/** Numbers per entry: two or three names, then its counts, or its value and time. */
export const entryWidth = 5;

/** Numbers per user: the feature, then both halves of the hash. */
export const userWidth = 3;

/** Stands for a missing name, or for the environment in place of a feature. */
export const noName = -1;

/**
 * A report in a few arrays, which are transferred between threads without a copy. Objects and texts would be created again in
 * the receiving thread, all at once.
 */
export interface CondensedReport extends ReportHead {
  readonly kind: 'usage' | 'metrics';
  readonly appVersion: string | undefined;
  readonly statCount: number;
  /** Valid distinct names, as UTF-8. */
  readonly names: Uint8Array;
  /** The end of each name. */
  readonly nameEnds: Uint32Array;
  /** Usage: feature, variant, checks, used, viewed. Metrics: metric, feature, variant, value, time. Names by index. */
  readonly entries: Float64Array;
  readonly users: Float64Array;
  /** Whether entries were left out because of invalid names. */
  readonly dropped: boolean;
  /** See `contentSumOf`. */
  readonly contentSum: readonly [number, number];
  /** Cost of counting it, in entries. */
  readonly work: number;
}
