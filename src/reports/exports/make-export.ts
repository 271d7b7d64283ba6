import { Feature } from '../../contract/shapes/feature.ts';
import { Metric } from '../../contract/shapes/metric.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type MetricsTask, metricsReport } from '../usage/measurements-report.ts';
import { type FeaturesTask, featuresReport } from '../verdicts/features-report.ts';
import { ledgerColumns, ledgerRows } from './ledger.ts';
import { measurementColumns, measurementRows } from './measurements.ts';
import { type Columns, cellsIn, listColumns, type RowFormat, RowWriter } from './row-writer.ts';
import { Chunks, type Rows, writeRows } from './rows.ts';
import { usageColumns, usageRows } from './usage.ts';

const owners = ['owners', { description: 'Names of the owners.', example: ['Ada Lovelace'] }] as const;
const tags = ['tags', { description: 'Words for searching.', example: ['checkout'] }] as const;

/** Columns of a feature. In rows, owners are a list of names. */
export const featureColumns: Columns = Object.fromEntries(
  Object.entries(listColumns(Feature)).flatMap((column) =>
    column[0] === 'ownersFrom' ? [owners, column, tags] : [column],
  ),
);
export const metricColumns = listColumns(Metric);

/** Every report that is available as rows, with its columns. */
const kinds = {
  usage: [usageColumns, usageRows],
  measurements: [measurementColumns, measurementRows],
  ledger: [ledgerColumns, ledgerRows],
  features: [featureColumns, featureRows],
  metrics: [metricColumns, metricRows],
} as const satisfies Readonly<
  Record<string, readonly [Columns, (store: UsageTables, task: never, writer: RowWriter) => Rows]>
>;

type Kinds = typeof kinds;

export type ExportName = keyof Kinds;

export type ExportTask<Name extends ExportName> = Parameters<Kinds[Name][1]>[1];

/** The report and format of an export. */
export interface ExportRequest {
  readonly name: ExportName;
  readonly task: unknown;
  readonly format: RowFormat;
  /** Shared memory for the chunks. */
  readonly memory: SharedArrayBuffer;
}

export function makeExport(store: UsageTables, { name, task, format, memory }: ExportRequest): Chunks {
  const [columns, rows] = kinds[name] as readonly [Columns, (...of: unknown[]) => Rows];
  const writer = new RowWriter(format, columns);
  return new Chunks(writer, rows(store, task, writer), memory);
}

/** Page limits that include all items. */
const all = { limit: Number.POSITIVE_INFINITY, after: undefined };

/** Yields all features of an application by name. */
function* featureRows(store: UsageTables, task: Omit<FeaturesTask, 'page'>, writer: RowWriter): Rows {
  const { items } = yield* featuresReport(store, { ...task, page: all });
  yield* writeRows(writer, items, ({ owners, ...feature }) =>
    cellsIn({ ...feature, owners: owners.map(({ name }) => name) }, featureColumns),
  );
}

/** Yields all metrics of an application by name. */
function* metricRows(store: UsageTables, task: Omit<MetricsTask, 'page'>, writer: RowWriter): Rows {
  const { items } = yield* metricsReport(store, { ...task, page: all });
  yield* writeRows(writer, items, (metric) => cellsIn(metric, metricColumns));
}
