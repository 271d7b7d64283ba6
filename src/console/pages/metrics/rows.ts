import type { MetricShown } from '../../../contract/shapes/metric.ts';
import type { MetricMeasurements } from '../../../contract/shapes/reports.ts';

/** A metric of the application, or one of a feature: its variants are shown together. */
export interface MetricRow {
  readonly name: string;
  readonly feature: string | undefined;
  readonly kind: 'counter' | 'gauge';
  readonly unit: string | undefined;
  readonly declared: boolean;
  /** Nothing was measured in the range when it is empty. */
  readonly series: readonly MetricMeasurements[];
}

/** What identifies a row. */
export function rowKey({ name, feature }: Pick<MetricRow, 'name' | 'feature'>): string {
  return JSON.stringify(feature === undefined ? [name] : [name, feature]);
}

/** One row for each metric that is declared or was measured, by name. */
export function metricRows(
  declared: readonly MetricShown[],
  measured: readonly MetricMeasurements[],
): MetricRow[] {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const groups = new Map<string, MetricMeasurements[]>();
  for (const each of measured) {
    const key = rowKey({ name: each.metric, feature: each.feature });
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const rows = Array.from(groups.values(), (series): MetricRow => {
    const [{ metric: name, feature, kind }] = series as [MetricMeasurements];
    return { name, feature, series, ...declarationOf(name, declarations, kind) };
  });
  const seen = new Set(measured.map(({ metric }) => metric));
  for (const { name, kind } of declared)
    if (!seen.has(name)) {
      rows.push({ name, feature: undefined, series: [], ...declarationOf(name, declarations, kind) });
    }
  return rows.sort((a, b) => compare(a.name, b.name) || compare(a.feature ?? '', b.feature ?? ''));
}

function declarationOf(
  name: string,
  declarations: ReadonlyMap<string, MetricShown>,
  kind: MetricShown['kind'],
) {
  const declared = declarations.get(name);
  return { kind: declared?.kind ?? kind, unit: declared?.unit, declared: declared !== undefined };
}

/** The figure of a row: the sum of a counter; the last number of a gauge. `undefined` when nothing was measured. */
export function figureOf({ kind, series }: MetricRow): number | undefined {
  if (kind === 'counter')
    return series.length === 0 ? undefined : series.reduce((sum, each) => sum + each.sum, 0);
  return latest(series)?.last;
}

/** The variant that was measured last. */
export function latest(series: readonly MetricMeasurements[]): MetricMeasurements | undefined {
  return series.reduce<MetricMeasurements | undefined>(
    (a, b) => (a === undefined || b.lastAt > a.lastAt ? b : a),
    undefined,
  );
}

/** Equal spans of time, Unix seconds. */
export interface Grid {
  readonly start: number;
  readonly width: number;
  readonly count: number;
}

/** The part of a grid from the first bucket on in which something was measured: before, a gauge has no value. */
export function gridFrom(grid: Grid, series: readonly Pick<MetricMeasurements, 'series'>[]): Grid {
  const times = series.flatMap(({ series: [first] }) => (first === undefined ? [] : [first[0]]));
  const skipped = Math.floor((Math.min(...times) - grid.start) / grid.width);
  if (!(skipped > 0)) return grid;
  const left = Math.min(skipped, grid.count - 1);
  return { start: grid.start + left * grid.width, width: grid.width, count: grid.count - left };
}

/**
 * The values of a series in every bucket. Where nothing was measured, a counter has 0, and a gauge what it had before.
 * @param kind decides what an absent bucket means
 */
export function valuesIn(
  { start, width, count }: Grid,
  kind: MetricRow['kind'],
  series: readonly (readonly [t: number, value: number])[],
): number[] {
  const values = new Array<number | undefined>(count).fill(undefined);
  for (const [at, value] of series) {
    const index = Math.floor((at - start) / width);
    if (index < 0 || index >= count) continue;
    values[index] = kind === 'counter' ? (values[index] ?? 0) + value : value;
  }
  if (kind === 'counter') return values.map((value) => value ?? 0);
  let last = values.find((value) => value !== undefined) ?? 0;
  return values.map((value) => {
    last = value ?? last;
    return last;
  });
}

/** The trend of a row: of a gauge of a feature, that of the variant that was measured last. */
export function trendOf(row: MetricRow, grid: Grid): number[] {
  const last = latest(row.series);
  if (last === undefined) return [];
  if (row.kind === 'gauge') return valuesIn(gridFrom(grid, [last]), 'gauge', last.series);
  return valuesIn(
    grid,
    'counter',
    row.series.flatMap(({ series }) => series),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
