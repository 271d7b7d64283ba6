import { surplusName } from '../../contract/names.ts';
import type { Page } from '../../contract/shapes/fields.ts';
import type { Metric } from '../../contract/shapes/metric.ts';
import type { MeasurementsReport, MetricMeasurements } from '../../contract/shapes/reports.ts';
import { cutPage, type PageRequest } from '../../http/lists.ts';
import { mergeMeasurement } from '../../storage/aggregate/merge.ts';
import { type Measurement, measurementCodec } from '../../storage/lmdb/blocks.ts';
import type { MetricDeclaration, MetricKind } from '../../storage/lmdb/records.ts';
import type { SeriesName } from '../../storage/lmdb/series.ts';
import type { Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { anyLength, bucketIn, minuteText, PointBudget, type ReportRange, shownZone } from './report-range.ts';
import { pickSeries } from './sights.ts';
import { sumUp } from './sum-up.ts';
import type { UsageTask } from './usage-report.ts';

export interface MeasurementsTask extends UsageTask {
  /** Names of the application's declared gauges. */
  readonly gauges: ReadonlySet<string>;
}

/**
 * Adds up the measurements of an environment.
 * @param only metric to report; `undefined` for all
 * @param gauges names of the metrics that report their last value instead of their sum
 * @throws {Refusal} `too_many_points`
 */
export function* measurementsReport(
  store: UsageTables,
  environment: { readonly name: string; readonly number: number },
  range: ReportRange,
  only: string | undefined,
  gauges: ReadonlySet<string> = new Set(),
): Reading<MeasurementsReport> {
  const metrics = yield* pickSeries(store, environment.number, (name) => createTotals(name, only));
  const budget = new PointBudget();
  const days = range.zoned?.starts !== undefined;
  // Days of a time zone are added up from hours. Only a few hours are in memory at a time, so they need no limit.
  const source = { store, series: metrics, budget: days ? new PointBudget(anyLength) : budget };
  const inHours = { ...range, ...(days && ({ step: 'hour' } as const)) };
  yield* sumUp(source, environment.number, inHours, (ordinal, total, points) => {
    const metric = metrics.get(ordinal);
    if (metric === undefined) return;
    mergeMeasurement(metric.total, total);
    if (days) addByDay(metric.points, points, range, budget);
    else metric.points.push(...points);
  });
  return {
    environment: environment.name,
    from: minuteText(range.from),
    to: minuteText(range.to),
    step: range.step,
    ...shownZone(range),
    metrics: [...metrics.values()]
      .filter(({ points }) => points.length > 0)
      .map((totals) => describe(totals, gauges.has(totals.identity.metric) ? 'gauge' : 'counter')),
  };
}

/** Adds hours to the days of the time zone of a range. Both are in order of time. */
function addByDay(days: MetricPoint[], hours: readonly MetricPoint[], range: ReportRange, budget: PointBudget): void {
  for (const [t, cell] of hours) {
    const day = bucketIn(range, t / 60);
    let last = days.at(-1);
    if (last?.[0] !== day) {
      budget.take();
      last = [day, measurementCodec.empty()];
      days.push(last);
    }
    mergeMeasurement(last[1], cell);
  }
}

type MetricPoint = readonly [t: number, cell: Measurement];

interface MetricTotals {
  /** Identity of a metric of the application, or of a metric of a feature and variant. */
  readonly identity: Pick<MetricMeasurements, 'metric' | 'feature' | 'variant'>;
  readonly total: Measurement;
  readonly points: MetricPoint[];
}

function createTotals(name: SeriesName, only: string | undefined): MetricTotals | undefined {
  if (name.length === 2) return undefined;
  const identity = name.length === 1 ? { metric: name[0] } : { metric: name[0], feature: name[1], variant: name[2] };
  if (only !== undefined && identity.metric !== only) return undefined;
  return { identity, total: measurementCodec.empty(), points: [] };
}

function describe({ identity, total, points }: MetricTotals, kind: MetricKind): MetricMeasurements {
  const valueIn = ({ sum, last }: Measurement) => (kind === 'counter' ? sum : last);
  return {
    ...identity,
    kind,
    value: valueIn(total),
    ...total,
    lastAt: new Date(total.lastAt).toISOString(),
    series: points.map(([t, cell]) => [t, valueIn(cell)]),
  };
}

export interface MetricsTask {
  /** The numbers of its environments. */
  readonly environments: readonly number[];
  readonly declared: readonly MetricDeclaration[];
  /** True to report only declared metrics, false to report only undeclared metrics; `undefined` for all. */
  readonly only: boolean | undefined;
  readonly page: PageRequest<string>;
}

/** Returns a page of an application's metrics, declared or only seen, sorted by name. */
export function* metricsReport(
  store: UsageTables,
  { environments, declared, only, page }: MetricsTask,
): Reading<Page<Metric>> {
  const declarations = new Map(declared.map((each) => [each.name, each]));
  const names = new Set([...declarations.keys(), ...(yield* namesSeen(store, environments))]);
  const metrics = Array.from(names, (name) => showMetric(name, declarations.get(name)));
  const wanted = metrics.filter((metric) => metric.declared === (only ?? metric.declared));
  return cutPage(wanted, page, ({ name }) => name);
}

/** Returns a metric as in the API. @param declaration `undefined` if the metric was only seen */
export function showMetric(name: string, declaration: MetricDeclaration | undefined): Metric {
  const { kind = 'counter', unit = null } = declaration ?? {};
  return { name, kind, ...(unit === null ? {} : { unit }), declared: declaration !== undefined };
}

/** Returns the metrics named by packets and reports, including metrics of features, without `__other__`. */
function* namesSeen(store: UsageTables, environments: readonly number[]): Reading<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const environment of environments)
    yield* pickSeries(store, environment, (name) => {
      if (name.length !== 2 && name[0] !== surplusName) names.add(name[0]);
    });
  return names;
}
