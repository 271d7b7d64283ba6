import type { Metric } from '../../../contract/shapes/metric.ts';
import type { MetricMeasurements } from '../../../contract/shapes/reports.ts';
import { type Buckets, bucketAt, bucketStart, indexAt } from '../../components/chart/series.ts';

/** A metric of the application, or a metric of a feature with all its variants. */
export interface MetricRow {
  readonly name: string;
  readonly feature: string | undefined;
  readonly kind: 'counter' | 'gauge';
  readonly unit: string | undefined;
  readonly declared: boolean;
  /** Measured series of the metric; empty if nothing was measured in the range. */
  readonly series: readonly MetricMeasurements[];
}

export function rowKey({ name, feature }: Pick<MetricRow, 'name' | 'feature'>): string {
  return JSON.stringify(feature === undefined ? [name] : [name, feature]);
}

export function metricRows(declared: readonly Metric[], measured: readonly MetricMeasurements[]): MetricRow[] {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const groups = new Map<string, MetricMeasurements[]>();
  for (const each of measured) {
    const key = rowKey({ name: each.metric, feature: each.feature });
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const rows = Array.from(groups.values(), (series): MetricRow => {
    const [{ metric: name, feature, kind }] = series as [MetricMeasurements];
    return { name, feature, series, ...findDeclaration(name, declarations, kind) };
  });
  const seen = new Set(measured.map(({ metric }) => metric));
  for (const { name, kind } of declared)
    if (!seen.has(name)) {
      rows.push({ name, feature: undefined, series: [], ...findDeclaration(name, declarations, kind) });
    }
  return rows.sort((a, b) => compare(a.name, b.name) || compare(a.feature ?? '', b.feature ?? ''));
}

function findDeclaration(name: string, declarations: ReadonlyMap<string, Metric>, kind: Metric['kind']) {
  const declared = declarations.get(name);
  return { kind: declared?.kind ?? kind, unit: declared?.unit, declared: declared !== undefined };
}

/**
 * Returns the figure of a row: the sum of a counter, or the last value of a gauge; `undefined` without measurements.
 */
export function computeFigure({ kind, series }: MetricRow): number | undefined {
  if (kind === 'counter') return series.length === 0 ? undefined : series.reduce((sum, each) => sum + each.sum, 0);
  return latest(series)?.last;
}

export function latest(series: readonly MetricMeasurements[]): MetricMeasurements | undefined {
  return series.reduce<MetricMeasurements | undefined>(
    (a, b) => (a === undefined || b.lastAt > a.lastAt ? b : a),
    undefined,
  );
}

/** Returns the buckets since the first measurement, before which a gauge has no value. */
export function bucketsFrom(buckets: Buckets, series: readonly Pick<MetricMeasurements, 'series'>[]): Buckets {
  const { width, count, starts } = buckets;
  const times = series.flatMap(({ series: [first] }) => (first === undefined ? [] : [first[0]]));
  const skipped = indexAt(buckets, Math.min(...times));
  if (!(skipped > 0)) return buckets;
  const left = Math.min(skipped, count - 1);
  return { start: bucketStart(buckets, left), width, count: count - left, starts: starts?.slice(left) };
}

/**
 * Returns the value of a series in each bucket. In a bucket without a measurement, a counter is 0, and a gauge keeps
 * its previous value.
 */
export function valuesIn(
  buckets: Buckets,
  kind: MetricRow['kind'],
  series: readonly (readonly [t: number, value: number])[],
): number[] {
  const values = new Array<number | undefined>(buckets.count).fill(undefined);
  for (const [at, value] of series) {
    const index = bucketAt(buckets, at);
    if (index === undefined) continue;
    values[index] = kind === 'counter' ? (values[index] ?? 0) + value : value;
  }
  if (kind === 'counter') return values.map((value) => value ?? 0);
  let last = values.find((value) => value !== undefined) ?? 0;
  return values.map((value) => {
    last = value ?? last;
    return last;
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
