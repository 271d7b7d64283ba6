import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { Columns } from './columns.ts';
import { ledgerColumns, ledgerRows } from './ledger.ts';
import { measurementColumns, measurementRows } from './measurements.ts';
import { featureColumns, featureRows, metricColumns, metricRows } from './registry.ts';
import { type RowFormat, RowWriter } from './row-writer.ts';
import { Chunks, type Rows } from './rows.ts';
import { usageColumns, usageRows } from './usage.ts';

/** Every report that can be had in rows, with its columns. */
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

/** What is to be exported, and how. */
export interface ExportRequest {
  readonly name: ExportName;
  readonly task: unknown;
  readonly format: RowFormat;
  /** Where its chunks come to lie. */
  readonly memory: SharedArrayBuffer;
}

/** Begins an export. */
export function makeExport(store: UsageTables, { name, task, format, memory }: ExportRequest): Chunks {
  const [columns, rows] = kinds[name] as readonly [Columns, (...of: unknown[]) => Rows];
  const writer = new RowWriter(format, columns);
  return new Chunks(writer, rows(store, task, writer), memory);
}
