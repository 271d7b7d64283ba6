import { originalText } from '../../contract/escaping.ts';
import { isName } from '../../contract/names.ts';
import { noVariant, withoutVariant } from '../../contract/unleash-checks.ts';
import { Failure } from '../failure.ts';
import { parseJson, readFields } from '../send.ts';
import {
  FileTotal,
  parseInteger,
  parseNumber,
  parseTime,
  type RowReader,
  type RowSink,
  splitCells,
  Table,
  TimeReader,
  type Values,
  wrong,
} from './rows.ts';

const usageColumns = ['time', 'feature', 'variant', 'checks'] as const;
const valueColumns = ['sum', 'count', 'last', 'lastAt', 'min', 'max'] as const;

/** @throws {Failure} if the header lacks a column */
export function csvReader(path: string, header: string): RowReader {
  const names = splitCells(header) ?? [];
  const hasMetrics = names.includes('metric') && !names.includes('checks');
  return hasMetrics ? measurementsReader(path, header) : usageReader(path, header);
}

function usageReader(path: string, header: string): RowReader {
  const table = new Table(path, header, usageColumns);
  const [time, feature, variant, checks] = usageColumns.map((name) => table.column(name)) as Columns;
  const [environment, used, viewed] = ['environment', 'used', 'viewed'].map((name) => table.column(name)) as Columns;
  const times = new TimeReader();
  const total = new FileTotal();
  return {
    read(line, sink) {
      const cells = table.cells(line);
      if (typeof cells === 'string') return cells;
      return addCount(
        environment < 0 ? undefined : originalText(cells[environment]!),
        times.read(cells[time]!),
        originalText(cells[feature]!),
        originalText(cells[variant]!),
        [parseInteger(cells[checks]!), parseInteger(cells[used] ?? '0'), parseInteger(cells[viewed] ?? '0')],
        total,
        sink,
      );
    },
  };
}

type Columns = [number, number, number, number];

function measurementsReader(path: string, header: string): RowReader {
  const table = new Table(path, header, ['time', 'metric', ...valueColumns]);
  const columns = valueColumns.map((name) => table.column(name));
  const time = table.column('time');
  const environment = table.column('environment');
  const name = ['metric', 'feature', 'variant'].map((each) => table.column(each));
  const times = new TimeReader();
  return {
    read(line, sink) {
      const cells = table.cells(line);
      if (typeof cells === 'string') return cells;
      const [sum, count, last, lastAt, min, max] = columns.map((column) => cells[column]!) as Texts;
      return addMeasurement(
        environment < 0 ? undefined : originalText(cells[environment]!),
        times.read(cells[time]!),
        name.map((column) => originalText(cells[column] ?? '')),
        [
          parseNumber(sum),
          parseInteger(count),
          parseNumber(last),
          parseTime(lastAt),
          parseNumber(min),
          parseNumber(max),
        ],
        sink,
      );
    },
  };
}

type Texts = [string, string, string, string, string, string];

export function ndjsonReader(): RowReader {
  const times = new TimeReader();
  const total = new FileTotal();
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const number = (value: unknown) => (typeof value === 'number' ? value : Number.NaN);
  const whole = (value: unknown) => (Number.isSafeInteger(value) ? Math.max(-1, value as number) : -1);
  return {
    read(line, sink) {
      const parsed = parseJson(line);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return wrong.json;
      const row = readFields(parsed);
      const environment = typeof row['environment'] === 'string' ? row['environment'] : undefined;
      const time = times.read(text(row['time']));
      const feature = text(row['feature']);
      const variant = text(row['variant']);
      if ('metric' in row && !('checks' in row)) {
        const [sum, last, min, max] = ['sum', 'last', 'min', 'max'].map((name) => number(row[name])) as Columns;
        const values = [sum, whole(row['count']), last, parseTime(text(row['lastAt'])), min, max] as const;
        return addMeasurement(environment, time, [text(row['metric']), feature, variant], values, sink);
      }
      const { checks, used = 0, viewed = 0 } = row;
      const counts = [whole(checks), whole(used), whole(viewed)] as const;
      return addCount(environment, time, feature, variant, counts, total, sink);
    },
  };
}

function addCount(
  environment: string | undefined,
  time: number,
  feature: string,
  variant: string,
  [checks, used, viewed]: readonly [number, number, number],
  total: FileTotal,
  sink: RowSink,
): string | undefined {
  if (Number.isNaN(time)) return wrong.time;
  if (!isName(feature)) return wrong.feature;
  if (!isName(variant)) return wrong.variant;
  if (checks < 0 || used < 0 || viewed < 0) return wrong.count;
  if (!total.add(checks + used + viewed)) return wrong.total;
  sink.count(environment, time, feature, variant, checks, used, viewed);
  return undefined;
}

/** @param name metric, feature and variant; the last two are empty for a metric of the application */
function addMeasurement(
  environment: string | undefined,
  time: number,
  [metric = '', feature = '', variant = '']: readonly string[],
  values: Values,
  sink: RowSink,
): string | undefined {
  const [, count, last, lastAt, min, max] = values;
  const ofFeature = feature !== '' || variant !== '';
  if (Number.isNaN(time)) return wrong.time;
  if (!isName(metric)) return wrong.metric;
  if (ofFeature && !isName(feature)) return wrong.feature;
  if (ofFeature && !isName(variant)) return wrong.variant;
  if (count < 1) return wrong.values;
  if (Number.isNaN(lastAt)) return wrong.lastAt;
  if (!values.every(Number.isFinite)) return wrong.number;
  if (last < min || last > max) return wrong.range;
  sink.measurement(environment, time, ofFeature ? [metric, feature, variant] : [metric], values);
  return undefined;
}

/** Maximum number of Unleash rows with variants. They are kept in memory. */
const maxCovered = 4_000_000;

/** The checks of variants, by row of `client_metrics_env`. The row's `yes` and `no` include these checks. */
export class VariantChecks {
  readonly #counts = new Map<string, number>();
  /** True after the file was read once. */
  isComplete = false;

  /** @throws {Failure} if there are too many rows */
  add(row: string, count: number): void {
    if (this.isComplete) return;
    this.#counts.set(row, (this.#counts.get(row) ?? 0) + count);
    if (this.#counts.size <= maxCovered) return;
    throw new Failure(
      'failed',
      `Cannot import more than ${maxCovered} rows with variants together; divide the files by time`,
    );
  }

  of(row: string): number {
    return this.#counts.size === 0 ? 0 : (this.#counts.get(row) ?? 0);
  }
}

/** The columns of an Unleash table. A table with one row per day can have `date` instead of `timestamp`. */
class UnleashTable extends Table {
  readonly #time: number;
  readonly #columns: readonly number[];
  readonly #times = new TimeReader();

  constructor(path: string, header: string, counts: readonly string[]) {
    const dated = splitCells(header)?.includes('date') ? 'date' : 'timestamp';
    super(path, header, ['feature_name', 'app_name', 'environment', dated, ...counts]);
    this.#time = this.column(dated);
    this.#columns = ['feature_name', 'app_name', 'environment'].map((name) => this.column(name));
  }

  /** Returns a row, or the reason why the line is not a row. */
  row(line: string) {
    const cells = this.cells(line);
    if (typeof cells === 'string') return cells;
    const [feature = '', app = '', environment = ''] = this.#columns.map((column) => cells[column]);
    const time = this.#times.read(cells[this.#time]!);
    if (Number.isNaN(time)) return wrong.time;
    if (!isName(feature)) return wrong.feature;
    if (app !== '' && !isName(app)) return wrong.app;
    return { cells, feature, environment, time, key: `${environment}\n${feature}\n${app}\n${time}` };
  }
}

/**
 * Reads `client_metrics_env`. Checks without a variant count for `enabled` or `disabled` (see `withoutVariant`).
 * @throws {Failure} if the header lacks a column
 */
export function unleashReader(path: string, header: string, covered: VariantChecks): RowReader {
  const table = new UnleashTable(path, header, ['yes', 'no']);
  const yes = table.column('yes');
  const no = table.column('no');
  const total = new FileTotal();
  return {
    read(line, { count }) {
      const row = table.row(line);
      if (typeof row === 'string') return row;
      const { cells, environment, time, feature, key } = row;
      const on = parseInteger(cells[yes]!);
      const off = parseInteger(cells[no]!);
      if (on < 0 || off < 0) return wrong.count;
      if (!total.add(on + off)) return wrong.total;
      const { enabled, disabled } = withoutVariant(on, off, covered.of(key));
      if (enabled > 0) count(environment, time, feature, 'enabled', enabled, 0, 0);
      if (disabled > 0) count(environment, time, feature, 'disabled', disabled, 0, 0);
      return undefined;
    },
  };
}

/** Reads `client_metrics_env_variants`. @throws {Failure} if the header lacks a column */
export function unleashVariantsReader(path: string, header: string, covered: VariantChecks): RowReader {
  const table = new UnleashTable(path, header, ['variant', 'count']);
  const variant = table.column('variant');
  const checked = table.column('count');
  const total = new FileTotal();
  return {
    read(line, { count }) {
      const row = table.row(line);
      if (typeof row === 'string') return row;
      const name = row.cells[variant]!;
      const checks = parseInteger(row.cells[checked]!);
      if (!isName(name)) return wrong.variant;
      if (checks < 0) return wrong.count;
      if (name === noVariant || checks === 0) return undefined;
      if (!total.add(checks)) return wrong.total;
      covered.add(row.key, checks);
      count(row.environment, row.time, row.feature, name, checks, 0, 0);
      return undefined;
    },
  };
}
