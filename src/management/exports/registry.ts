import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type FeaturesTask, featuresReport } from '../features-report.ts';
import { type MetricsTask, metricsReport } from '../metrics-report.ts';
import type { Columns, RowWriter } from './row-writer.ts';
import { type Rows, rowsOf } from './rows.ts';

const time = '2026-01-31T12:00:00.000Z';

export const featureColumns = {
  name: { description: 'Name of the feature.', example: 'checkout' },
  description: { description: 'What it is.', example: 'The new checkout' },
  declared: { description: 'Whether the team has declared it.', example: true },
  archived: { description: 'Whether the team is done with it.', example: false },
  archivedAt: { description: 'When it was archived.', example: null },
  permanent: { description: 'Whether it is meant to stay.', example: false },
  snoozedUntil: { description: 'Until when its verdict is put off.', example: null },
  split: { description: 'The shares that its variants should have, as JSON.', example: { on: 1, off: 1 } },
  stale: { description: 'Whether it was neither seen nor declared for long.', example: false },
  firstSeenAt: { description: 'When it was first seen.', example: time },
  lastSeenAt: { description: 'When it was last seen.', example: time },
  createdAt: { description: 'When it was declared.', example: time },
  updatedAt: { description: 'When its declaration was last changed.', example: time },
} satisfies Columns;

export const metricColumns = {
  name: { description: 'Name of the metric.', example: 'purchases' },
  kind: { description: '`counter` or `gauge`.', example: 'counter' },
  unit: { description: 'Its unit.', example: null },
  declared: { description: 'Whether the team has declared it.', example: true },
} satisfies Columns;

/** The first page, which has everything. */
const all = { limit: Number.POSITIVE_INFINITY, after: undefined };

/** All features of an application by name. */
export function* featureRows(store: UsageTables, task: Omit<FeaturesTask, 'page'>, writer: RowWriter): Rows {
  const { items } = yield* featuresReport(store, { ...task, page: all });
  yield* rowsOf(writer, items, (feature) => Object.keys(featureColumns).map((name) => cellOf(feature, name)));
}

/** All metrics of an application by name. */
export function* metricRows(store: UsageTables, task: Omit<MetricsTask, 'page'>, writer: RowWriter): Rows {
  const { items } = yield* metricsReport(store, { ...task, page: all });
  yield* rowsOf(writer, items, (metric) => Object.keys(metricColumns).map((name) => cellOf(metric, name)));
}

function cellOf(item: object, name: string) {
  return (item as Readonly<Record<string, string | number | boolean | null>>)[name] ?? null;
}
