import type { UsageStore } from '../../store/usage.ts';
import { ledgerColumns, ledgerRows } from './ledger.ts';
import { measurementColumns, measurementRows } from './measurements.ts';
import { featureColumns, featureRows, metricColumns, metricRows } from './registry.ts';
import { type Columns, type RowFormat, type RowWriter, writerOf } from './row-writer.ts';
import type { Rows } from './rows.ts';
import { usageColumns, usageRows } from './usage.ts';

/** Every report that can be had in rows, with its columns. */
const kinds = {
  usage: [usageColumns, usageRows],
  measurements: [measurementColumns, measurementRows],
  ledger: [ledgerColumns, ledgerRows],
  features: [featureColumns, featureRows],
  metrics: [metricColumns, metricRows],
} as const satisfies Readonly<
  Record<string, readonly [Columns, (store: UsageStore, task: never, writer: RowWriter) => Rows]>
>;

type Kinds = typeof kinds;

export type ExportName = keyof Kinds;

export type ExportTask<Name extends ExportName> = Parameters<Kinds[Name][1]>[1];

/** What is to be exported, and how. */
export interface ExportRequest {
  readonly name: ExportName;
  readonly task: unknown;
  readonly format: RowFormat;
}

/** The rows of an export, with what comes before them. */
export function* makeExport(store: UsageStore, { name, task, format }: ExportRequest): Rows {
  const [columns, rows] = kinds[name] as readonly [Columns, (...of: unknown[]) => Rows];
  const writer = writerOf(format, columns);
  yield writer.head;
  yield* rows(store, task, writer);
}
