import { Failure } from '../failure.ts';
import { printable } from '../show.ts';

const quotedCell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** Splits a line of CSV (RFC 4180). @returns `undefined` if the quotes are wrong */
export function splitCells(line: string): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(',');
  const cells: string[] = [];
  quotedCell.lastIndex = 0;
  for (;;) {
    const found = quotedCell.exec(line);
    if (found === null) return undefined;
    const [, quoted, plain = '', end] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return cells;
  }
}

const maxDigits = 16;

/** Returns a non-negative integer; -1 for any other text. */
export function parseInteger(text: string): number {
  const { length } = text;
  if (length === 0 || length > maxDigits) return -1;
  let value = 0;
  for (let at = 0; at < length; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return Number.isSafeInteger(value) ? value : -1;
}

const numberPattern = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Returns a number in the syntax of JSON; NaN for any other text. */
export function parseNumber(text: string): number {
  return numberPattern.test(text) ? Number(text) : Number.NaN;
}

/** Times in the format of RFC 3339 or PostgreSQL. UTC is the default offset. */
const timePattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?)?$/i;

/** Reads times, and caches them because most times repeat. */
export class TimeReader {
  readonly #known = new Map<string, number>();
  #lastText = '';
  #last = Number.NaN;

  /** Returns Unix seconds; NaN if the text is not a time. */
  read(text: string): number {
    if (text === this.#lastText) return this.#last;
    this.#last = this.#known.get(text) ?? this.#add(text);
    this.#lastText = text;
    return this.#last;
  }

  #add(text: string): number {
    const at = Math.floor(parseTime(text) / 1000);
    if (this.#known.size >= maxTimes) this.#known.clear();
    this.#known.set(text, at);
    return at;
  }
}

const maxTimes = 10_000;

/** Returns Unix ms; NaN if the text is not a time. */
export function parseTime(text: string): number {
  const found = timePattern.exec(text);
  if (found === null) return Number.NaN;
  const [year, month, day, hour = '0', minute = '0', second = '0', fraction = '.0'] = found.slice(1);
  const [sign, offsetHour = '0', offsetMinute = '0'] = found.slice(8);
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const isDay = new Date(date).toISOString().startsWith(text.slice(0, 10));
  if (!isDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return Number.NaN;
  const offset = (sign === '-' ? -60 : 60) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  const at = date + seconds * 1000 + Number(fraction.slice(1, 4).padEnd(3, '0'));
  return at >= 0 ? at : Number.NaN;
}

/** A metric of the application, or of a variant of a feature. */
export type MetricName = readonly [metric: string, feature?: string, variant?: string];

/** The values of a metric. `lastAt` is Unix ms. */
export type Values = readonly [sum: number, count: number, last: number, lastAt: number, min: number, max: number];

/** Receives the rows of a source. @param environment `undefined` if the rows have none @param time Unix seconds */
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

export interface RowReader {
  /** @returns the reason why the line is not a row; `undefined` if it is a row */
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

/** Total of the counts of a file. It is limited to `Number.MAX_SAFE_INTEGER`, so that every sum is exact. */
export class FileTotal {
  #total = 0;

  /** @returns false if the total would be too large; the total is then unchanged */
  add(count: number): boolean {
    if (count > Number.MAX_SAFE_INTEGER - this.#total) return false;
    this.#total += count;
    return true;
  }
}

export class Table {
  readonly #names: readonly string[];

  /** @throws {Failure} if the header lacks a column, or repeats one */
  constructor(path: string, header: string, required: readonly string[]) {
    const names = splitCells(header) ?? [];
    this.#names = names;
    const missing = required.filter((name) => !names.includes(name));
    const repeated = names.filter((name, at) => name !== '' && names.indexOf(name) < at);
    const refuse = (reason: string, columns: readonly string[]) => {
      const all = printable(columns.join(', '));
      throw new Failure('failed', `Cannot import ${path}: its first line ${reason} the columns ${all}`);
    };
    if (missing.length > 0) refuse('lacks', missing);
    if (repeated.length > 0) refuse('repeats', repeated);
  }

  /** Returns the index of a column; -1 if it is missing. */
  column(name: string): number {
    return this.#names.indexOf(name);
  }

  /** Returns the cells of a line, or the reason why the line is rejected. */
  cells(line: string): readonly string[] | string {
    const cells = splitCells(line);
    if (cells === undefined) return wrong.quotes;
    return cells.length === this.#names.length ? cells : wrong.cells;
  }
}
