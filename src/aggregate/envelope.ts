import type { Message } from '../store/messages.ts';
import type { NewSeries } from '../store/series.ts';

/** Doubles a record takes in an envelope's arrays. */
export const recordWidth = 5;

/**
 * One batch on its way to an aggregate worker. The arrays lie in shared memory, so they are neither cloned nor
 * transferred; they are longer than what is used of them, and the sender leaves them alone until the commit is over.
 */
export interface Envelope {
  /** Records of `[series ref, bucket of time, checks, used, viewed]`. */
  readonly counts: Float64Array;
  readonly countRecords: number;
  /** Records of `[series ref, bucket of time, value, time in Unix ms, 0]`. */
  readonly measurements: Float64Array;
  readonly measurementRecords: number;
  /** Records of `[series ref, day since the epoch, high and low half of the user's hash, 0]`. */
  readonly users: Float64Array;
  readonly userRecords: number;
  /** Names that this batch is the first to refer to. */
  readonly series: readonly NewSeries[];
  /** Messages of this batch that must not count again. */
  readonly messages: readonly Message[];
}
