import { isName, surplusName } from '../../contract/names.ts';
import { seriesPerEnvironment, seriesRef } from '../lmdb/blocks.ts';
import { featureItself, getFeatureName, listSeries, type NewSeries, type SeriesName } from '../lmdb/series.ts';
import { environmentOrdinal } from '../lmdb/sketches.ts';
import type { UsageTables } from '../lmdb/usage.ts';

export interface SeriesLimits {
  /** Maximum number of features per environment. */
  readonly features: number;
  /** Maximum number of variants per feature, and per metric of a feature. */
  readonly variants: number;
  /** Maximum number of metrics per environment. */
  readonly metrics: number;
}

interface FirstSeries {
  readonly ordinal: number;
  readonly ref: number;
}

/** Collects new series, which are committed with the first cells that refer to them. */
export interface SeriesSink {
  readonly series: NewSeries[];
  folded: number;
  /** Number of entries that were dropped because their names cannot have a series. */
  dropped: number;
}

/**
 * Maps names to series (see `seriesRef`) for one environment. The dictionary only grows, up to the limits. Names over a
 * limit are counted under the surplus name. Names are validated when they are new; an invalid name gets no series.
 */
export class EnvironmentSeries {
  readonly #environment: number;
  readonly #limits: SeriesLimits;
  readonly #features = new Map<string, Map<string, number>>();
  /** The series of each feature as a whole. It counts users whose variant is unknown. */
  readonly #itself = new Map<string, number>();
  readonly #metrics = new Map<string, number>();
  /** The series of a feature's metric, by `pairKey` and then by variant. */
  readonly #featureMetrics = new Map<string, Map<string, number>>();
  readonly #firstByFeature = new Map<string, FirstSeries>();
  #nextOrdinal = 0;
  /** The series of the environment as a whole. It has users, but no name. */
  readonly whole: number;
  /** The first ordinal that is not in `known`. */
  readonly stored: number;

  constructor(environment: number, limits: SeriesLimits, known: Iterable<NewSeries>) {
    this.#environment = environment;
    this.#limits = limits;
    this.whole = seriesRef(environment, environmentOrdinal);
    for (const series of known) this.learn(series);
    this.stored = this.#nextOrdinal;
  }

  /** Adds an existing series. Call this in the order of ordinals. */
  learn({ name, ordinal }: NewSeries): void {
    this.#remember(name, ordinal);
    this.#nextOrdinal = ordinal + 1;
  }

  /** The series with ordinals below `end`, in the order of ordinals. */
  below(end: number): readonly NewSeries[] {
    const series: NewSeries[] = [];
    const add = (ref: number, ...name: SeriesName) => {
      const ordinal = ref % seriesPerEnvironment;
      if (ordinal < end) series.push({ environment: this.#environment, ordinal, name });
    };
    for (const [feature, ref] of this.#itself) add(ref, feature, featureItself);
    for (const [metric, ref] of this.#metrics) add(ref, metric);
    for (const [feature, variants] of this.#features) for (const [variant, ref] of variants) add(ref, feature, variant);
    for (const [pair, variants] of this.#featureMetrics) {
      const [metric, feature] = pair.split('\n') as [string, string];
      for (const [variant, ref] of variants) add(ref, metric, feature, variant);
    }
    return series.sort((a, b) => a.ordinal - b.ordinal);
  }

  findVariants(feature: string): ReadonlyMap<string, number> | undefined {
    return this.#features.get(feature);
  }

  /** The series of a variant. A new series is passed to `sink`. @returns `undefined` if a name is invalid */
  variant(feature: string, variant: string, sink: SeriesSink): number | undefined {
    return this.#features.get(feature)?.get(variant) ?? this.#newVariant(feature, variant, sink);
  }

  /** Creates the series of a variant. This is a separate method, so that the lookup is short enough to be inlined. */
  #newVariant(feature: string, variant: string, sink: SeriesSink): number | undefined {
    if (!isName(feature) || !isName(variant)) return drop(sink);
    const featureName = foldOver(this.#features, feature, this.#limits.features);
    const variants = this.#features.get(featureName);
    const variantName = foldOver(variants, variant, this.#limits.variants);
    if (featureName !== feature || variantName !== variant) sink.folded += 1;
    return variants?.get(variantName) ?? this.create([featureName, variantName], sink);
  }

  feature(feature: string, sink: SeriesSink): number | undefined {
    const ref = this.#itself.get(feature);
    if (ref !== undefined) return ref;
    if (!isName(feature)) return drop(sink);
    const name = foldOver(this.#features, feature, this.#limits.features);
    if (name !== feature) sink.folded += 1;
    return this.#itself.get(name) ?? this.create([name, featureItself], sink);
  }

  /**
   * The first series of a feature, which identifies the feature. A feature over the limit has the first series of the
   * surplus name.
   */
  findFirst(feature: string): FirstSeries | undefined {
    return this.#firstByFeature.get(feature) ?? this.#firstByFeature.get(surplusName);
  }

  metric(metric: string, sink: SeriesSink): number | undefined {
    const ref = this.#metrics.get(metric);
    if (ref !== undefined) return ref;
    if (!isName(metric)) return drop(sink);
    const name = this.#hasRoomForMetric() ? metric : surplusName;
    if (name !== metric) sink.folded += 1;
    return this.#metrics.get(name) ?? this.create([name], sink);
  }

  /**
   * The series of a feature's metric. A pair of metric and feature counts once towards the limit, even with several
   * variants.
   */
  featureMetric(metric: string, feature: string, variant: string, sink: SeriesSink): number | undefined {
    const own = this.#featureMetrics.get(pairKey(metric, feature));
    const ref = own?.get(variant);
    if (ref !== undefined) return ref;
    if (!isName(metric) || !isName(feature) || !isName(variant)) return drop(sink);
    const folded = own === undefined && !this.#hasRoomForMetric();
    const [metricName, featureName] = folded ? [surplusName, surplusName] : [metric, feature];
    const variants = folded ? this.#featureMetrics.get(pairKey(surplusName, surplusName)) : own;
    const variantName = foldOver(variants, variant, this.#limits.variants);
    if (folded || variantName !== variant) sink.folded += 1;
    return variants?.get(variantName) ?? this.create([metricName, featureName, variantName], sink);
  }

  #hasRoomForMetric(): boolean {
    const surplus =
      Number(this.#metrics.has(surplusName)) + Number(this.#featureMetrics.has(pairKey(surplusName, surplusName)));
    return this.#metrics.size + this.#featureMetrics.size - surplus < this.#limits.metrics;
  }

  protected create(name: SeriesName, sink: SeriesSink): number | undefined {
    const ordinal = this.#nextOrdinal;
    if (ordinal >= environmentOrdinal) return drop(sink); // The environment has the maximum number of series.
    this.#nextOrdinal += 1;
    const ref = this.#remember(name, ordinal);
    sink.series.push({ environment: this.#environment, ordinal, name });
    return ref;
  }

  #remember(name: SeriesName, ordinal: number): number {
    const ref = seriesRef(this.#environment, ordinal);
    const feature = getFeatureName(name);
    if (feature === undefined) this.#metrics.set(name[0], ref);
    else if (!this.#firstByFeature.has(feature)) this.#firstByFeature.set(feature, { ordinal, ref });
    if (name.length === 3) openVariants(this.#featureMetrics, pairKey(name[0], name[1])).set(name[2], ref);
    if (name.length === 2) {
      const variants = openVariants(this.#features, name[0]);
      if (name[1] === featureItself) this.#itself.set(name[0], ref);
      else variants.set(name[1], ref);
    }
    return ref;
  }
}

function drop(sink: SeriesSink): undefined {
  sink.dropped += 1;
}

/** A key for a metric and a feature. Names contain no line breaks. */
function pairKey(metric: string, feature: string): string {
  return `${metric}\n${feature}`;
}

function openVariants(groups: Map<string, Map<string, number>>, group: string): Map<string, number> {
  const known = groups.get(group);
  if (known !== undefined) return known;
  const variants = new Map<string, number>();
  groups.set(group, variants);
  return variants;
}

/**
 * Returns the name if it is known or below the limit, and otherwise the surplus name, which does not count towards the
 * limit.
 */
function foldOver(names: ReadonlyMap<string, unknown> | undefined, name: string, limit: number): string {
  if (names === undefined || names.has(name)) return name;
  const own = names.size - Number(names.has(surplusName));
  return own < limit ? name : surplusName;
}

/** The dictionaries of all environments used since startup, each read from the store at its first use. */
export class SeriesDictionary {
  readonly #store: Pick<UsageTables, 'series'>;
  readonly #limits: SeriesLimits;
  readonly #environments = new Map<number, EnvironmentSeries>();

  constructor(store: Pick<UsageTables, 'series'>, limits: SeriesLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  of(environment: number): EnvironmentSeries {
    const known = this.#environments.get(environment);
    if (known !== undefined) return known;
    const loaded = new EnvironmentSeries(environment, this.#limits, listSeries(this.#store, environment));
    this.#environments.set(environment, loaded);
    return loaded;
  }

  forget(environment: number): void {
    this.#environments.delete(environment);
  }
}

/** The durable series of each environment, for threads that must refer to durable series only. */
export class DurableSeries {
  readonly #dictionary: Pick<SeriesDictionary, 'of'>;
  /**
   * The first ordinal of each environment that is not durable. Absent until a series becomes durable after the first
   * use of the environment.
   */
  readonly #ends = new Map<number, number>();

  /** Create this object before the first packet is counted. */
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

const check: SeriesSink = { series: [], folded: 0, dropped: 0 };

/**
 * The durable series of an environment, in a thread that creates no series. The main thread's dictionary begins with
 * the same series, so a name has the same series in both threads.
 */
export class SeriesMirror extends EnvironmentSeries {
  #lacks = false;

  /** True if a variant needs no new series: the variant has a series, counts as surplus, or has an invalid name. */
  countsVariant(feature: string, variant: string): boolean {
    this.#lacks = false;
    this.variant(feature, variant, check);
    return !this.#lacks;
  }

  /** True if a metric is counted without a new series. The rule is the same as for `countsVariant`. */
  countsMetric(metric: string): boolean {
    this.#lacks = false;
    this.metric(metric, check);
    return !this.#lacks;
  }

  /** @throws {Error} if a packet needs a new series: check the packet with `countsVariant` or `countsMetric` first */
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

  /** The mirror of an environment; `undefined` before `open`. */
  find(environment: number): SeriesMirror | undefined {
    return this.#environments.get(environment);
  }

  of(environment: number): SeriesMirror {
    return this.#environments.get(environment)!;
  }

  /** @param series all durable series: see `DurableSeries.of` */
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
