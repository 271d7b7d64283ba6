import { Failure } from '../failure.ts';
import { cellsOf } from './cells.ts';

export const importFormats = ['csv', 'ndjson', 'unleash'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** A metric of the application, or of a variant of a feature. */
export type MetricName = readonly [metric: string, feature?: string, variant?: string];

/** The values of a metric. `lastAt` is Unix ms. */
export type Values = readonly [
  sum: number,
  count: number,
  last: number,
  lastAt: number,
  min: number,
  max: number,
];

/** Receives what rows contain. `environment` is `undefined` if the rows name none, and `time` is Unix seconds. */
export interface RowSink {
  count(
    environment: string | undefined,
    time: number,
    feature: string,
    variant: string,
    checks: number,
    used: number,
    viewed: number,
  ): void;
  measurement(environment: string | undefined, time: number, name: MetricName, values: Values): void;
}

/** Reads the rows of a file. */
export interface RowReader {
  /** @returns why the line is not a row; `undefined` if it is */
  read(line: string, sink: RowSink): string | undefined;
}

export const wrong = {
  cells: 'wrong number of cells',
  quotes: 'quotes do not match',
  json: 'not a JSON object',
  time: 'time is not valid',
  feature: 'feature is not a valid name',
  variant: 'variant is not a valid name',
  metric: 'metric is not a valid name',
  app: 'app_name is not a valid name',
  count: 'a count is not an integer from 0',
  values: 'count is not an integer from 1',
  number: 'a value is not a number',
  lastAt: 'lastAt is not valid',
  range: 'last is not between min and max',
} as const;

/** Reads the cells of the columns that a header names. */
export class Table {
  readonly #names: readonly string[];

  /** @throws {Failure} if the header lacks a column */
  constructor(path: string, header: string, required: readonly string[]) {
    this.#names = cellsOf(header) ?? [];
    const missing = required.filter((name) => !this.#names.includes(name));
    if (missing.length === 0) return;
    throw new Failure(
      'failed',
      `Cannot import ${path}: its first line lacks the columns ${missing.join(', ')}`,
    );
  }

  /** Index of a column; -1 if there is none. */
  column(name: string): number {
    return this.#names.indexOf(name);
  }

  /** The cells of a line, or why there are none. */
  cells(line: string): readonly string[] | string {
    const cells = cellsOf(line);
    if (cells === undefined) return wrong.quotes;
    return cells.length === this.#names.length ? cells : wrong.cells;
  }
}
