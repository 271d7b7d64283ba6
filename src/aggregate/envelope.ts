import type { NewSeries } from '../store/series.ts';

/** Doubles a record takes in an envelope's arrays. */
export const recordWidth = 5;

/**
 * One batch on its way to an aggregate worker. The two arrays are transferred, not cloned, and may be longer than
 * what is used of them.
 */
export interface Envelope {
  /** Records of `[series ref, minute, checks, used, viewed]`. */
  readonly counts: Float64Array;
  readonly countRecords: number;
  /** Records of `[series ref, minute, value, time in Unix ms, 0]`. */
  readonly measurements: Float64Array;
  readonly measurementRecords: number;
  /** Names that this batch is the first to refer to. */
  readonly series: readonly NewSeries[];
}
