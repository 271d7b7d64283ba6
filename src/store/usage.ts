import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import {
  type Counts,
  cellKeyFrom,
  type Measurement,
  type Resolution,
  readCellKey,
  readCounts,
  readMeasurement,
} from './cells.ts';
import { openEnvironment, openTable, type Table } from './environment.ts';

/** The tables of the usage environment. The aggregate workers write it; the service's own thread only reads. */
export interface UsageStore {
  readonly environment: RootDatabase<Buffer, Buffer>;
  /** Cells of variants: see cells.ts. */
  readonly counts: Table;
  /** Cells of metrics: see cells.ts. */
  readonly measurements: Table;
  /** The series dictionary: see series.ts. */
  readonly series: Table;
}

/** Opens the usage environment of a data directory; each thread opens it for itself. */
export function openUsageStore(data: string): UsageStore {
  const environment = openEnvironment(join(data, 'usage'));
  return {
    environment,
    counts: openTable(environment, 'counts'),
    measurements: openTable(environment, 'measurements'),
    series: openTable(environment, 'series'),
  };
}

/** One cell of a scan: bucket start in minutes since the epoch, the series' ordinal, and what it holds. */
export interface Cell<T> {
  readonly minute: number;
  readonly ordinal: number;
  readonly value: T;
}

/** The count cells of an environment with `from ≤ bucket start < to` (minutes since the epoch), oldest first. */
export function countCells(
  store: UsageStore,
  environment: number,
  width: Resolution,
  from: number,
  to: number,
) {
  return scan<Counts>(store.counts, readCounts, environment, width, from, to);
}

/** The measurement cells of an environment with `from ≤ bucket start < to` (minutes since the epoch), oldest first. */
export function measurementCells(
  store: UsageStore,
  environment: number,
  width: Resolution,
  from: number,
  to: number,
) {
  return scan<Measurement>(store.measurements, readMeasurement, environment, width, from, to);
}

function* scan<T>(
  table: Table,
  read: (value: Buffer) => T,
  environment: number,
  width: Resolution,
  from: number,
  to: number,
): Generator<Cell<T>> {
  const range = { start: cellKeyFrom(environment, width, from), end: cellKeyFrom(environment, width, to) };
  for (const { key, value } of table.getRange(range)) yield { ...readCellKey(key), value: read(value) };
}
