import { originalText } from '../../contract/csv-text.ts';
import { isName } from '../../contract/names.ts';
import { Failure } from '../failure.ts';
import { fieldsOf, jsonOf } from '../send.ts';
import { cellsOf, TimeReader, wholeOf } from './cells.ts';

export const importFormats = ['csv', 'ndjson', 'unleash'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** Receives the counts of a row. @param environment `undefined` if the rows name none @param time Unix seconds */
export type AddCounts = (
  environment: string | undefined,
  time: number,
  feature: string,
  variant: string,
  checks: number,
  used: number,
  viewed: number,
) => void;

/** Reads the rows of a file. */
export interface RowReader {
  /** @returns why the line is not a row; `undefined` if it is */
  read(line: string, add: AddCounts): string | undefined;
}

const wrong = {
  cells: 'wrong number of cells',
  quotes: 'quotes do not match',
  json: 'not a JSON object',
  time: 'time is not valid',
  feature: 'feature is not a valid name',
  variant: 'variant is not a valid name',
  app: 'app_name is not a valid name',
  count: 'a count is not an integer from 0',
} as const;

/** Reads the cells of the columns that a header names. */
class Table {
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

/** Reads an export of usage as CSV. @throws {Failure} if the header lacks a column */
export function csvReader(path: string, header: string): RowReader {
  const table = new Table(path, header, ['time', 'feature', 'variant', 'checks']);
  const [time, environment, feature, variant] = ['time', 'environment', 'feature', 'variant'].map((name) =>
    table.column(name),
  ) as [number, number, number, number];
  const [checks, used, viewed] = ['checks', 'used', 'viewed'].map((name) => table.column(name)) as [
    number,
    number,
    number,
  ];
  const times = new TimeReader();
  return {
    read(line, add) {
      const cells = table.cells(line);
      if (typeof cells === 'string') return cells;
      return addRow(
        environment < 0 ? undefined : originalText(cells[environment]!),
        times.read(cells[time]!),
        originalText(cells[feature]!),
        originalText(cells[variant]!),
        [wholeOf(cells[checks]!), wholeOf(cells[used] ?? '0'), wholeOf(cells[viewed] ?? '0')],
        add,
      );
    },
  };
}

/** Reads an export of usage as NDJSON. */
export function ndjsonReader(): RowReader {
  const times = new TimeReader();
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const whole = (value: unknown) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : -1;
  return {
    read(line, add) {
      const parsed = jsonOf(line);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return wrong.json;
      const { environment, time, feature, variant, checks, used = 0, viewed = 0 } = fieldsOf(parsed);
      return addRow(
        typeof environment === 'string' ? environment : undefined,
        times.read(text(time)),
        text(feature),
        text(variant),
        [whole(checks), whole(used), whole(viewed)],
        add,
      );
    },
  };
}

function addRow(
  environment: string | undefined,
  time: number,
  feature: string,
  variant: string,
  [checks, used, viewed]: readonly [number, number, number],
  add: AddCounts,
): string | undefined {
  if (Number.isNaN(time)) return wrong.time;
  if (!isName(feature)) return wrong.feature;
  if (!isName(variant)) return wrong.variant;
  if (checks < 0 || used < 0 || viewed < 0) return wrong.count;
  add(environment, time, feature, variant, checks, used, viewed);
  return undefined;
}

/** Maximum number of rows of Unleash that have variants: they are in memory. */
const maxCovered = 4_000_000;

/** The part of each `yes` that variants cover, by the row of `client_metrics_env`. */
export class Covered {
  readonly #counts = new Map<string, number>();
  /** Set after the first reading of the file. */
  isComplete = false;

  /** @throws {Failure} if there are too many */
  add(row: string, count: number): void {
    if (this.isComplete) return;
    this.#counts.set(row, (this.#counts.get(row) ?? 0) + count);
    if (this.#counts.size <= maxCovered) return;
    throw new Failure(
      'failed',
      `Cannot import more than ${maxCovered} rows with variants at once; divide the files by time`,
    );
  }

  of(row: string): number {
    return this.#counts.size === 0 ? 0 : (this.#counts.get(row) ?? 0);
  }
}

/** The columns that both tables of Unleash have. Tables of days may have `date` in place of `timestamp`. */
class UnleashTable extends Table {
  readonly #time: number;
  readonly #columns: readonly number[];
  readonly #times = new TimeReader();

  constructor(path: string, header: string, counts: readonly string[]) {
    const dated = cellsOf(header)?.includes('date') ? 'date' : 'timestamp';
    super(path, header, ['feature_name', 'app_name', 'environment', dated, ...counts]);
    this.#time = this.column(dated);
    this.#columns = ['feature_name', 'app_name', 'environment'].map((name) => this.column(name));
  }

  /** What identifies a row, or why it is not valid. */
  row(cells: readonly string[]) {
    const [feature = '', app = '', environment = ''] = this.#columns.map((column) => cells[column]);
    const time = this.#times.read(cells[this.#time]!);
    if (Number.isNaN(time)) return wrong.time;
    if (!isName(feature)) return wrong.feature;
    if (app !== '' && !isName(app)) return wrong.app;
    return { feature, environment, time, key: `${environment}\n${feature}\n${app}\n${time}` };
  }
}

/**
 * Reads `client_metrics_env` of Unleash. `no` counts as `disabled`, and the part of `yes` that no variant covers as `enabled`.
 * @throws {Failure} if the header lacks a column
 */
export function unleashReader(path: string, header: string, covered: Covered): RowReader {
  const table = new UnleashTable(path, header, ['yes', 'no']);
  const [yes, no] = [table.column('yes'), table.column('no')];
  return {
    read(line, add) {
      const cells = table.cells(line);
      if (typeof cells === 'string') return cells;
      const row = table.row(cells);
      if (typeof row === 'string') return row;
      const [on, off] = [wholeOf(cells[yes]!), wholeOf(cells[no]!)];
      if (on < 0 || off < 0) return wrong.count;
      const { environment, time, feature, key } = row;
      const enabled = Math.max(0, on - covered.of(key));
      if (enabled > 0) add(environment, time, feature, 'enabled', enabled, 0, 0);
      if (off > 0) add(environment, time, feature, 'disabled', off, 0, 0);
      return undefined;
    },
  };
}

/** The variant that SDKs report for a flag without variants. Its checks are in `yes` or `no`. */
const noVariant = 'disabled';

/** Reads `client_metrics_env_variants` of Unleash. @throws {Failure} if the header lacks a column */
export function unleashVariantsReader(path: string, header: string, covered: Covered): RowReader {
  const table = new UnleashTable(path, header, ['variant', 'count']);
  const [variant, count] = [table.column('variant'), table.column('count')];
  return {
    read(line, add) {
      const cells = table.cells(line);
      if (typeof cells === 'string') return cells;
      const row = table.row(cells);
      if (typeof row === 'string') return row;
      const [name, checks] = [cells[variant]!, wholeOf(cells[count]!)];
      if (!isName(name)) return wrong.variant;
      if (checks < 0) return wrong.count;
      if (name === noVariant || checks === 0) return undefined;
      covered.add(row.key, checks);
      add(row.environment, row.time, row.feature, name, checks, 0, 0);
      return undefined;
    },
  };
}
