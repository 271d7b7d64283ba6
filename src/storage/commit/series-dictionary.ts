import { isName } from '../../contract/names.ts';
import { seriesRef } from '../lmdb/blocks.ts';
import {
  featureItself,
  featureOf,
  type NewSeries,
  type SeriesName,
  seriesOf,
  surplusName,
} from '../lmdb/series.ts';
import { environmentOrdinal } from '../lmdb/sketches.ts';
import type { UsageStore } from '../lmdb/usage.ts';

export interface SeriesLimits {
  /** Features an environment. */
  readonly features: number;
  /** Variants a feature, and variants a metric of a feature. */
  readonly variants: number;
  /** Metrics an environment. */
  readonly metrics: number;
}

/** A series by its ordinal in the environment, and by its ref. */
interface FirstSeries {
  readonly ordinal: number;
  readonly ref: number;
}

/** Collects the series that are seen for the first time: they are committed with the first cells that refer to them. */
export interface SeriesSink {
  readonly series: NewSeries[];
  /** How often a name was folded into the surplus name. */
  folded: number;
  /** How often something was left out because there can be no series for its name. */
  dropped: number;
}

/**
 * From names to series refs, for one environment. It only grows, up to the limits: names over them are folded. A name that
 * is not valid has no series; only new names are checked, since a known one is valid.
 */
export class EnvironmentSeries {
  readonly #environment: number;
  readonly #limits: SeriesLimits;
  readonly #features = new Map<string, Map<string, number>>();
  /** The features themselves: users whose variant is not known are counted here. */
  readonly #itself = new Map<string, number>();
  readonly #metrics = new Map<string, number>();
  /** The variants of metrics of features, by `pairKey`. */
  readonly #featureMetrics = new Map<string, Map<string, number>>();
  /** The first series that names a feature. */
  readonly #firstOf = new Map<string, FirstSeries>();
  #nextOrdinal = 0;
  /** The environment as a whole, which has users but no name. */
  readonly whole: number;

  constructor(environment: number, limits: SeriesLimits, known: Iterable<NewSeries>) {
    this.#environment = environment;
    this.#limits = limits;
    this.whole = seriesRef(environment, environmentOrdinal);
    for (const { ordinal, name } of known) {
      this.#remember(name, ordinal);
      this.#nextOrdinal = ordinal + 1;
    }
  }

  /**
   * The series of a feature's variant; made, and given to `sink`, when there is none yet.
   * @returns `undefined` when a name is not valid
   */
  variant(feature: string, variant: string, sink: SeriesSink): number | undefined {
    return this.#features.get(feature)?.get(variant) ?? this.#newVariant(feature, variant, sink);
  }

  /** Apart from the look-up, which is so short that it is compiled into its callers. */
  #newVariant(feature: string, variant: string, sink: SeriesSink): number | undefined {
    if (!isName(feature) || !isName(variant)) return drop(sink);
    const featureName = foldOver(this.#features, feature, this.#limits.features);
    const variants = this.#features.get(featureName);
    const variantName = foldOver(variants, variant, this.#limits.variants);
    if (featureName !== feature || variantName !== variant) sink.folded += 1;
    return variants?.get(variantName) ?? this.#create([featureName, variantName], sink);
  }

  /** The series of a feature itself, in the same way. */
  feature(feature: string, sink: SeriesSink): number | undefined {
    const ref = this.#itself.get(feature);
    if (ref !== undefined) return ref;
    if (!isName(feature)) return drop(sink);
    const name = foldOver(this.#features, feature, this.#limits.features);
    if (name !== feature) sink.folded += 1;
    return this.#itself.get(name) ?? this.#create([name, featureItself], sink);
  }

  /** The first series that names a feature, by which the feature is known; that of the surplus when it is folded. */
  firstOf(feature: string): FirstSeries | undefined {
    return this.#firstOf.get(feature) ?? this.#firstOf.get(surplusName);
  }

  /** The series of a metric, in the same way. */
  metric(metric: string, sink: SeriesSink): number | undefined {
    const ref = this.#metrics.get(metric);
    if (ref !== undefined) return ref;
    if (!isName(metric)) return drop(sink);
    const name = this.#hasRoomForMetric() ? metric : surplusName;
    if (name !== metric) sink.folded += 1;
    return this.#metrics.get(name) ?? this.#create([name], sink);
  }

  /**
   * The series of a feature's metric for one variant, in the same way. Metric and feature together count as one metric
   * towards the limit, whatever the number of variants.
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
    return variants?.get(variantName) ?? this.#create([metricName, featureName, variantName], sink);
  }

  #hasRoomForMetric(): boolean {
    const surplus =
      Number(this.#metrics.has(surplusName)) +
      Number(this.#featureMetrics.has(pairKey(surplusName, surplusName)));
    return this.#metrics.size + this.#featureMetrics.size - surplus < this.#limits.metrics;
  }

  #create(name: SeriesName, sink: SeriesSink): number | undefined {
    const ordinal = this.#nextOrdinal;
    if (ordinal >= environmentOrdinal) return drop(sink); // The environment has a million series.
    this.#nextOrdinal += 1;
    const ref = this.#remember(name, ordinal);
    sink.series.push({ environment: this.#environment, ordinal, name });
    return ref;
  }

  /** @returns the series' ref */
  #remember(name: SeriesName, ordinal: number): number {
    const ref = seriesRef(this.#environment, ordinal);
    const feature = featureOf(name);
    if (feature === undefined) this.#metrics.set(name[0], ref);
    else if (!this.#firstOf.has(feature)) this.#firstOf.set(feature, { ordinal, ref });
    if (name.length === 3) variantsOf(this.#featureMetrics, pairKey(name[0], name[1])).set(name[2], ref);
    if (name.length === 2) {
      const variants = variantsOf(this.#features, name[0]);
      if (name[1] === featureItself) this.#itself.set(name[0], ref);
      else variants.set(name[1], ref);
    }
    return ref;
  }
}

/** Notes that something is left out. */
function drop(sink: SeriesSink): undefined {
  sink.dropped += 1;
}

/** One key for a metric and a feature: names have no line breaks. */
function pairKey(metric: string, feature: string): string {
  return `${metric}\n${feature}`;
}

/** The variants of a group; made where there are none. */
function variantsOf(groups: Map<string, Map<string, number>>, group: string): Map<string, number> {
  const known = groups.get(group);
  if (known !== undefined) return known;
  const variants = new Map<string, number>();
  groups.set(group, variants);
  return variants;
}

/** The name itself where it is known or there is room for it, else the surplus name, which needs no room. */
function foldOver(names: ReadonlyMap<string, unknown> | undefined, name: string, limit: number): string {
  if (names === undefined || names.has(name)) return name;
  const own = names.size - Number(names.has(surplusName));
  return own < limit ? name : surplusName;
}

/** The dictionaries of all environments that were used since the start, each read from the store at its first use. */
export class SeriesDictionary {
  readonly #store: Pick<UsageStore, 'series'>;
  readonly #limits: SeriesLimits;
  readonly #environments = new Map<number, EnvironmentSeries>();

  constructor(store: Pick<UsageStore, 'series'>, limits: SeriesLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  of(environment: number): EnvironmentSeries {
    const known = this.#environments.get(environment);
    if (known !== undefined) return known;
    const loaded = new EnvironmentSeries(environment, this.#limits, seriesOf(this.#store, environment));
    this.#environments.set(environment, loaded);
    return loaded;
  }

  /** Forgets the series of a deleted environment. */
  forget(environment: number): void {
    this.#environments.delete(environment);
  }
}
