import type { NewSeries } from '../lmdb/series.ts';
import type { SeriesDictionary } from './series-dictionary.ts';

/** The durable series of each environment, for the threads that may refer only to these. */
export class DurableSeries {
  readonly #dictionary: Pick<SeriesDictionary, 'of'>;
  /** The first ordinal of each environment that is not durable. Absent if all durable series were stored at its first use. */
  readonly #ends = new Map<number, number>();

  /** Create it before the first packet is counted. */
  constructor(dictionary: Pick<SeriesDictionary, 'of'>) {
    this.#dictionary = dictionary;
  }

  committed(series: readonly NewSeries[]): void {
    for (const { environment, ordinal } of series) this.#ends.set(environment, ordinal + 1);
  }

  /** The durable series of an environment, in the order of ordinals, without gaps: see `Lane`. */
  of(environment: number): readonly NewSeries[] {
    const series = this.#dictionary.of(environment);
    return series.below(this.#ends.get(environment) ?? series.stored);
  }

  forget(environment: number): void {
    this.#ends.delete(environment);
  }
}
