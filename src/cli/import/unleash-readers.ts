import { isName } from '../../contract/names.ts';
import { noVariant, withoutVariant } from '../../contract/unleash-checks.ts';
import { Failure } from '../failure.ts';
import { cellsOf, TimeReader, wholeOf } from './cells.ts';
import { FileTotal, type RowReader, Table, wrong } from './rows.ts';

/** Maximum number of rows of Unleash that have variants: they are in memory. */
const maxCovered = 4_000_000;

/** The checks of variants by the row of `client_metrics_env`, whose `yes` and `no` include them. */
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

  /** The cells of a line and what identifies its row, or why it is not one. */
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
 * Reads `client_metrics_env` of Unleash. What no variant covers counts as `enabled` and `disabled` (see `withoutVariant`).
 * @throws {Failure} if the header lacks a column
 */
export function unleashReader(path: string, header: string, covered: Covered): RowReader {
  const table = new UnleashTable(path, header, ['yes', 'no']);
  const yes = table.column('yes');
  const no = table.column('no');
  const total = new FileTotal();
  return {
    read(line, { count }) {
      const row = table.row(line);
      if (typeof row === 'string') return row;
      const { cells, environment, time, feature, key } = row;
      const on = wholeOf(cells[yes]!);
      const off = wholeOf(cells[no]!);
      if (on < 0 || off < 0) return wrong.count;
      if (!total.add(on + off)) return wrong.total;
      const { enabled, disabled } = withoutVariant(on, off, covered.of(key));
      if (enabled > 0) count(environment, time, feature, 'enabled', enabled, 0, 0);
      if (disabled > 0) count(environment, time, feature, 'disabled', disabled, 0, 0);
      return undefined;
    },
  };
}

/** Reads `client_metrics_env_variants` of Unleash. @throws {Failure} if the header lacks a column */
export function unleashVariantsReader(path: string, header: string, covered: Covered): RowReader {
  const table = new UnleashTable(path, header, ['variant', 'count']);
  const variant = table.column('variant');
  const checked = table.column('count');
  const total = new FileTotal();
  return {
    read(line, { count }) {
      const row = table.row(line);
      if (typeof row === 'string') return row;
      const name = row.cells[variant]!;
      const checks = wholeOf(row.cells[checked]!);
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
