import { expositionText, type Labels, type ServiceMetric } from '../../http/exposition.ts';
import { mergeCounts, mergeMeasurement } from '../../storage/aggregate/merge.ts';
import { readCounts } from '../../storage/aggregate/read-counts.ts';
import { type Counts, countsCodec, type Measurement, measurementCodec } from '../../storage/lmdb/blocks.ts';
import type { Environment } from '../../storage/lmdb/records.ts';
import type { SeriesName } from '../../storage/lmdb/series.ts';
import { fromSnapshot, type Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { PointBudget, type ReportRange } from './report-range.ts';
import { pickSeries } from './sights.ts';
import { sumUp } from './sum-up.ts';

export interface MonthTask {
  readonly environments: readonly Pick<Environment, 'name' | 'number'>[];
  /** The range from the start of the month until now, by day. */
  readonly range: ReportRange;
}

/** Maximum number of reported series: series of features, with three samples each, and series of metrics. */
export const maxShown = { features: 5_000, metrics: 1_000 };

/** A value with labels. */
interface LabelledValue<Value> {
  readonly labels: Labels;
  readonly value: Value;
}

export interface MonthUsage {
  readonly features: readonly LabelledValue<Counts>[];
  readonly metrics: readonly LabelledValue<Measurement>[];
  readonly leftOut: Readonly<Record<'features' | 'metrics', number>>;
}

/** Adds up the usage of an application in this month. Only the largest series are reported. */
export function* monthUsage(store: UsageTables, task: MonthTask): Reading<MonthUsage> {
  const features: LabelledValue<Counts>[] = [];
  const metrics: LabelledValue<Measurement>[] = [];
  for (const { name, number } of task.environments) {
    const names = yield* pickSeries(store, number, (each) => each);
    for (const [ordinal, value] of yield* sumCounts(store, number, task.range)) {
      const [feature, variant] = names.get(ordinal) ?? [];
      if (feature !== undefined && variant) features.push({ labels: { environment: name, feature, variant }, value });
    }
    for (const [ordinal, value] of yield* sumMeasurements(store, number, task.range, names)) {
      const [metric = '', feature = '', variant = ''] = names.get(ordinal) ?? [];
      const labels = { environment: name, metric, ...(feature && { feature, variant }) };
      metrics.push({ labels, value });
    }
  }
  // A scrape must not grow with the names that unauthenticated senders choose.
  features.sort((a, b) => b.value.checks - a.value.checks || compare(a.labels, b.labels));
  metrics.sort((a, b) => b.value.count - a.value.count || compare(a.labels, b.labels));
  return {
    features: features.slice(0, maxShown.features),
    metrics: metrics.slice(0, maxShown.metrics),
    leftOut: {
      features: Math.max(0, features.length - maxShown.features),
      metrics: Math.max(0, metrics.length - maxShown.metrics),
    },
  };
}

function compare(a: Labels, b: Labels): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

function sumCounts(
  store: UsageTables,
  environment: number,
  { from, to }: ReportRange,
): Reading<ReadonlyMap<number, Counts>> {
  return fromSnapshot(store.lmdb, function* (at) {
    const totals = new Map<number, Counts>();
    yield* readCounts(store, environment, { from, to, grain: 'day' }, at, (block) => {
      for (let index = 0; index < block.size; index += 1) {
        const ordinal = block.ordinals[index]!;
        const total = totals.get(ordinal) ?? countsCodec.empty();
        totals.set(ordinal, total);
        const checks = block.checks[index]!;
        const used = block.used[index]!;
        const viewed = block.viewed[index]!;
        mergeCounts(total, { checks, used, viewed });
      }
    });
    return totals;
  });
}

function* sumMeasurements(
  store: UsageTables,
  environment: number,
  range: ReportRange,
  names: ReadonlyMap<number, SeriesName>,
): Reading<ReadonlyMap<number, Measurement>> {
  const totals = new Map<number, Measurement>();
  const source = { store, series: names, budget: new PointBudget(Number.POSITIVE_INFINITY) };
  yield* sumUp(source, environment, range, (ordinal, total) => {
    const known = totals.get(ordinal) ?? measurementCodec.empty();
    totals.set(ordinal, known);
    mergeMeasurement(known, total);
  });
  return totals;
}

/** Returns the start of a month, in UTC. @param time Unix ms */
export function startOfMonth(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

export interface PrometheusTask extends MonthTask {
  /** Names of the declared gauges. */
  readonly gauges: ReadonlySet<string>;
}

/** Returns the usage of an application in this month, in the text format of Prometheus. */
export function* prometheusReport(store: UsageTables, task: PrometheusTask): Reading<Promise<string>> {
  return expositionText(createMetrics(yield* monthUsage(store, task), task.gauges));
}

function createMetrics(
  { features, metrics, leftOut }: MonthUsage,
  gauges: ReadonlySet<string>,
): readonly ServiceMetric[] {
  const counted = (field: keyof Counts, help: string): ServiceMetric => ({
    name: `flagmeter_feature_${field}_total`,
    type: 'counter',
    help: `${help} Reset at the start of each month (UTC).`,
    read: () => features.map(({ labels, value }) => [labels, value[field]] as const),
  });
  const measured = (kind: 'counter' | 'gauge') =>
    metrics.filter(({ labels }) => gauges.has(labels['metric'] ?? '') === (kind === 'gauge'));
  return [
    counted('checks', 'Checks of a variant.'),
    counted('used', 'Uses of a variant.'),
    counted('viewed', 'Views of a variant.'),
    {
      name: 'flagmeter_metric_total',
      type: 'counter',
      help: 'Sum of the numbers of a counter. Reset at the start of each month (UTC).',
      read: () => measured('counter').map(({ labels, value }) => [labels, value.sum] as const),
    },
    {
      name: 'flagmeter_metric',
      type: 'gauge',
      help: 'Last number of a gauge in this month.',
      read: () => measured('gauge').map(({ labels, value }) => [labels, value.last] as const),
    },
    {
      name: 'flagmeter_series_left_out',
      type: 'gauge',
      help: 'Number of omitted series. There are too many, so only the largest are shown.',
      read: () => Object.entries(leftOut).map(([of, count]) => [{ of }, count] as const),
    },
  ];
}
