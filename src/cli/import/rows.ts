import { Failure } from '../failure.ts';
import { printable } from '../show.ts';
import { cellsOf } from './cells.ts';

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
  total: 'the counts of the file up to here exceed 2^53 - 1',
} as const;

/** Adds up the counts of a file, so that no cell that they are added to exceeds what a number holds exactly. */
export class FileTotal {
  #total = 0;

  /** @returns false if the total would be too large; it is then unchanged */
  add(count: number): boolean {
    if (count > Number.MAX_SAFE_INTEGER - this.#total) return false;
    this.#total += count;
    return true;
  }
}

/** Reads the cells of the columns that a header names. */
export class Table {
  readonly #names: readonly string[];

  /** @throws {Failure} if the header lacks a column, or repeats one */
  constructor(path: string, header: string, required: readonly string[]) {
    const names = cellsOf(header) ?? [];
    this.#names = names;
    const missing = required.filter((name) => !names.includes(name));
    const repeated = names.filter((name, at) => name !== '' && names.indexOf(name) < at);
    const refuse = (problem: string, columns: readonly string[]) => {
      const all = printable(columns.join(', '));
      throw new Failure('failed', `Cannot import ${path}: its first line ${problem} the columns ${all}`);
    };
    if (missing.length > 0) refuse('lacks', missing);
    if (repeated.length > 0) refuse('repeats', repeated);
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
