import { seriesRef } from '../store/blocks.ts';
import { featureItself, type NewSeries, type SeriesName, seriesOf, surplusName } from '../store/series.ts';
import { environmentOrdinal } from '../store/sketches.ts';
import type { UsageStore } from '../store/usage.ts';

/** Variants of one feature that get their own series. */
export const variantsPerFeature = 64;

export interface SeriesLimits {
  /** Features an environment. */
  readonly features: number;
  /** Metrics an environment. */
  readonly metrics: number;
}

/** Takes the series that are seen for the first time, to be committed with the first cells that refer to them. */
export interface SeriesSink {
  readonly series: NewSeries[];
  /** How often a name was folded into the surplus name. */
  folded: number;
}

/** From names to series refs, for one environment. It only grows, up to the limits; names over them are folded. */
export class EnvironmentSeries {
  private readonly environment: number;
  private readonly limits: SeriesLimits;
  private readonly features = new Map<string, Map<string, number>>();
  private readonly metrics = new Map<string, number>();
  /** The variants of metrics of features, by `pairKey`. */
  private readonly featureMetrics = new Map<string, Map<string, number>>();
  private nextOrdinal = 0;
  /** The environment as a whole, which has users but no name. */
  readonly whole: number;

  constructor(environment: number, limits: SeriesLimits, known: Iterable<NewSeries>) {
    this.environment = environment;
    this.limits = limits;
    this.whole = seriesRef(environment, environmentOrdinal);
    for (const { ordinal, name } of known) {
      this.remember(name, seriesRef(environment, ordinal));
      this.nextOrdinal = ordinal + 1;
    }
  }

  /** The series of a feature's variant; made, and given to `sink`, when there is none yet. */
  variant(feature: string, variant: string, sink: SeriesSink): number {
    const ref = this.features.get(feature)?.get(variant);
    if (ref !== undefined) return ref;
    const featureName = foldOver(this.features, feature, this.limits.features);
    const variants = this.features.get(featureName);
    const variantName =
      variants === undefined || variant === featureItself
        ? variant
        : foldOver(variants, variant, variantsPerFeature);
    if (featureName !== feature || variantName !== variant) sink.folded += 1;
    return variants?.get(variantName) ?? this.create([featureName, variantName], sink);
  }

  /** The series of a feature itself, for users of whom it is not known which variant they got. */
  feature(feature: string, sink: SeriesSink): number {
    return this.variant(feature, featureItself, sink);
  }

  /** The series of a metric; made, and given to `sink`, when there is none yet. */
  metric(metric: string, sink: SeriesSink): number {
    const ref = this.metrics.get(metric);
    if (ref !== undefined) return ref;
    const name = this.hasRoomForMetric() ? metric : surplusName;
    if (name !== metric) sink.folded += 1;
    return this.metrics.get(name) ?? this.create([name], sink);
  }

  /**
   * The series of a feature's metric for one variant; made, and given to `sink`, when there is none yet. Metric and
   * feature together count as one metric towards the limit, whatever the number of variants.
   */
  featureMetric(metric: string, feature: string, variant: string, sink: SeriesSink): number {
    const own = this.featureMetrics.get(pairKey(metric, feature));
    const ref = own?.get(variant);
    if (ref !== undefined) return ref;
    const folded = own === undefined && !this.hasRoomForMetric();
    const [metricName, featureName] = folded ? [surplusName, surplusName] : [metric, feature];
    const variants = folded ? this.featureMetrics.get(pairKey(surplusName, surplusName)) : own;
    const variantName = variants === undefined ? variant : foldOver(variants, variant, variantsPerFeature);
    if (folded || variantName !== variant) sink.folded += 1;
    return variants?.get(variantName) ?? this.create([metricName, featureName, variantName], sink);
  }

  private hasRoomForMetric(): boolean {
    const surplus =
      Number(this.metrics.has(surplusName)) +
      Number(this.featureMetrics.has(pairKey(surplusName, surplusName)));
    return this.metrics.size + this.featureMetrics.size - surplus < this.limits.metrics;
  }

  private create(name: SeriesName, sink: SeriesSink): number {
    const ordinal = this.nextOrdinal;
    if (ordinal >= environmentOrdinal)
      throw new RangeError(`environment ${this.environment} has no ordinals left`);
    this.nextOrdinal += 1;
    const ref = seriesRef(this.environment, ordinal);
    this.remember(name, ref);
    sink.series.push({ environment: this.environment, ordinal, name });
    return ref;
  }

  private remember(name: SeriesName, ref: number): void {
    if (name.length === 1) {
      this.metrics.set(name[0], ref);
      return;
    }
    if (name.length === 3) addVariant(this.featureMetrics, pairKey(name[0], name[1]), name[2], ref);
    else addVariant(this.features, name[0], name[1], ref);
  }
}

/** One key for a metric and a feature: names have no line breaks. */
function pairKey(metric: string, feature: string): string {
  return `${metric}\n${feature}`;
}

function addVariant(
  groups: Map<string, Map<string, number>>,
  group: string,
  variant: string,
  ref: number,
): void {
  const variants = groups.get(group);
  if (variants === undefined) groups.set(group, new Map([[variant, ref]]));
  else variants.set(variant, ref);
}

/** The name itself where it is known or there is room for it, else the surplus name, which needs no room. */
function foldOver(names: ReadonlyMap<string, unknown>, name: string, limit: number): string {
  if (names.has(name)) return name;
  const own = names.size - Number(names.has(surplusName)) - Number(names.has(featureItself));
  return own < limit ? name : surplusName;
}

/** The dictionaries of all environments that were used since the start, each read from the store at its first use. */
export class SeriesDictionary {
  private readonly store: UsageStore;
  private readonly limits: SeriesLimits;
  private readonly environments = new Map<number, EnvironmentSeries>();

  constructor(store: UsageStore, limits: SeriesLimits) {
    this.store = store;
    this.limits = limits;
  }

  of(environment: number): EnvironmentSeries {
    const known = this.environments.get(environment);
    if (known !== undefined) return known;
    const loaded = new EnvironmentSeries(environment, this.limits, seriesOf(this.store, environment));
    this.environments.set(environment, loaded);
    return loaded;
  }

  /** Lets go of a deleted environment's. */
  forget(environment: number): void {
    this.environments.delete(environment);
  }
}
