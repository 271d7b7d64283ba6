import { Feature } from '../../contract/shapes/feature.ts';
import { Metric } from '../../contract/shapes/metric.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type FeaturesTask, featuresReport } from '../features-report.ts';
import { type MetricsTask, metricsReport } from '../metrics-report.ts';
import { cellsIn, columnsOf } from './columns.ts';
import type { RowWriter } from './row-writer.ts';
import { type Rows, rowsOf } from './rows.ts';

export const featureColumns = columnsOf(Feature);
export const metricColumns = columnsOf(Metric);

/** A page with all items. */
const all = { limit: Number.POSITIVE_INFINITY, after: undefined };

/** All features of an application by name. */
export function* featureRows(store: UsageTables, task: Omit<FeaturesTask, 'page'>, writer: RowWriter): Rows {
  const { items } = yield* featuresReport(store, { ...task, page: all });
  yield* rowsOf(writer, items, (feature) => cellsIn(feature, featureColumns));
}

/** All metrics of an application by name. */
export function* metricRows(store: UsageTables, task: Omit<MetricsTask, 'page'>, writer: RowWriter): Rows {
  const { items } = yield* metricsReport(store, { ...task, page: all });
  yield* rowsOf(writer, items, (metric) => cellsIn(metric, metricColumns));
}
