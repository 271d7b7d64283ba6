import type { NewSeries } from '../lmdb/series.ts';
import { EnvironmentSeries, type SeriesLimits, type SeriesSink } from './series-dictionary.ts';

const check: SeriesSink = { series: [], folded: 0, dropped: 0 };

/**
 * The durable series of an environment in a thread that creates none. They are a prefix of those of the dictionary, which only
 * grows, so a name that needs no new series here has the same series in the dictionary.
 */
export class SeriesMirror extends EnvironmentSeries {
  #lacks = false;

  /** Whether a variant is counted without a new series: under its own or as surplus, or not at all because a name is invalid. */
  countsVariant(feature: string, variant: string): boolean {
    this.#lacks = false;
    this.variant(feature, variant, check);
    return !this.#lacks;
  }

  /** Whether a metric is counted without a new series, in the same way. */
  countsMetric(metric: string): boolean {
    this.#lacks = false;
    this.metric(metric, check);
    return !this.#lacks;
  }

  /** @throws {Error} unless called by a check, which must precede each use */
  protected override create(_: unknown, sink: SeriesSink): undefined {
    if (sink !== check) throw new Error('The thread lacks a series that a packet needs');
    this.#lacks = true;
  }
}

export class SeriesMirrors {
  readonly #limits: SeriesLimits;
  readonly #environments = new Map<number, SeriesMirror>();

  constructor(limits: SeriesLimits) {
    this.#limits = limits;
  }

  /** The mirror of an environment; `undefined` if it was not opened. */
  find(environment: number): SeriesMirror | undefined {
    return this.#environments.get(environment);
  }

  of(environment: number): SeriesMirror {
    return this.#environments.get(environment)!;
  }

  /** @param series all durable ones: see `DurableSeries.of` */
  open(environment: number, series: readonly NewSeries[]): void {
    this.#environments.set(environment, new SeriesMirror(environment, this.#limits, series));
  }

  learn(series: readonly NewSeries[]): void {
    for (const each of series) this.find(each.environment)?.learn(each);
  }

  forget(environment: number): void {
    this.#environments.delete(environment);
  }
}
