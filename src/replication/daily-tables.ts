import type { Counts } from '../storage/lmdb/cells.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { LogPosition } from './postgres/log-position.ts';

/** Days since the epoch: both are included. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** Until when days are written: days up to `day`, with all that the log says up to `position`. */
export interface WrittenUntil {
  readonly position: number;
  readonly day: number;
}

/** What a variant counted on a day, or all variants of a feature. */
export interface DailyRow extends Counts {
  readonly feature: string;
  /** `featureItself` for all variants. */
  readonly variant: string;
  readonly users: number;
}

/** A day of an environment, as a replica has it after an entry. */
export interface DailyPlace {
  readonly environment: number;
  readonly day: number;
  readonly applied: LogPosition;
}

/** The engine went back: what the replica has is not what the log says any more. */
export class ExportOutdated extends Error {
  override readonly name = 'ExportOutdated';
}

/** A node that has not said for this long that it goes on is gone. */
const leaseMs = 15_000;
/** Rows that one statement removes. */
const stepRows = 1000;

const dayOf = (parameter: string) => `(date '1970-01-01' + ${parameter}::int)`;
const numberOf = (column: string) => `(${column} - date '1970-01-01')`;
const isInLog = (position: string, id: string) =>
  `EXISTS (SELECT 1 FROM fm_entry WHERE position = ${position} AND id = ${id})`;

/** The tables of an engine that hold the usage by days: see postgres/daily-schema.ts. Each statement commits by itself. */
export class DailyTables {
  readonly #session: PostgresSession;
  readonly #directory: string;

  constructor(session: PostgresSession, directory: string) {
    this.#session = session;
    this.#directory = directory;
  }

  /** Takes or keeps the lease. Returns undefined when another node has it. */
  async lease(): Promise<WrittenUntil | undefined> {
    const { rows } = await this.#session.query<{ position: bigint; day: number }>({
      name: 'fm-daily-lease',
      text: `UPDATE fm_export SET holder = $1, until = clock_timestamp() + $2 * interval '1 ms'
             WHERE holder = $1 OR until < clock_timestamp() RETURNING position, ${numberOf('day')} AS day`,
      values: [this.#directory, leaseMs],
    });
    const [row] = rows;
    return row && { position: Number(row.position), day: row.day };
  }

  /** The positions at which days were written, by environment and day. */
  async positions({ from, to }: DayRange): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#session.query<{ environment: bigint; day: number; position: bigint }>({
      name: 'fm-daily-positions',
      text: `SELECT environment, ${numberOf('day')} AS day, position FROM fm_day
             WHERE day BETWEEN ${dayOf('$1')} AND ${dayOf('$2')}`,
      values: [from, to],
    });
    return new Map(rows.map(({ environment, day, position }) => [`${environment} ${day}`, Number(position)]));
  }

  /** Notes that rows of a day are there, before the first is: they are found when it is to be removed. */
  async begin({ environment, day }: DailyPlace): Promise<void> {
    await this.#session.query({
      name: 'fm-daily-begin',
      text: `INSERT INTO fm_day (environment, day) VALUES ($1, ${dayOf('$2')}) ON CONFLICT DO NOTHING`,
      values: [environment, day],
    });
  }

  /** Puts rows, unless rows of a later position are there. */
  async put({ environment, day, applied }: DailyPlace, rows: readonly DailyRow[]): Promise<void> {
    const column = (name: 'checks' | 'used' | 'viewed' | 'users') => rows.map((row) => whole(row[name]));
    await this.#session.query({
      name: 'fm-daily-put',
      text: `WITH lease AS (UPDATE fm_export SET until = clock_timestamp() + $1 * interval '1 ms' WHERE holder = $6)
             INSERT INTO fm_daily AS daily (environment, day, feature, variant, checks, used, viewed, users, position)
             SELECT $2, ${dayOf('$3')}, given.*, $4 FROM
               unnest($7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[]) AS given
             WHERE ${isInLog('$4', '$5')}
             ON CONFLICT (environment, day, feature, variant) DO UPDATE SET checks = excluded.checks, used = excluded.used,
               viewed = excluded.viewed, users = excluded.users, position = excluded.position
             WHERE daily.position < excluded.position`,
      values: [
        ...[leaseMs, environment, day, applied.position, applied.id, this.#directory],
        ...[rows.map(({ feature }) => feature), rows.map(({ variant }) => variant)],
        ...[column('checks'), column('used'), column('viewed'), column('users')],
      ],
    });
  }

  /**
   * Says that a day is written, and removes rows that it does not have any more.
   * @throws {ExportOutdated}
   */
  async finish({ environment, day, applied }: DailyPlace): Promise<void> {
    const { rowCount } = await this.#session.query({
      name: 'fm-daily-finish',
      text: `WITH gone AS (DELETE FROM fm_daily WHERE environment = $1 AND day = ${dayOf('$2')} AND position < $3
               AND ${isInLog('$3', '$4')})
             UPDATE fm_day SET position = greatest(position, $3)
             WHERE environment = $1 AND day = ${dayOf('$2')} AND ${isInLog('$3', '$4')}`,
      values: [environment, day, applied.position, applied.id],
    });
    if (rowCount === 0) throw outdated();
  }

  /** Notes until when days are written, unless another node has done so meanwhile. @throws {ExportOutdated} */
  async advance(from: WrittenUntil, to: LogPosition & WrittenUntil): Promise<void> {
    const { rowCount } = await this.#session.query({
      name: 'fm-daily-advance',
      text: `UPDATE fm_export SET position = greatest(position, $4), day = greatest(day, ${dayOf('$3')})
             WHERE position = $1 AND day = ${dayOf('$2')} AND (${isInLog('$4', '$5')} OR $4 = 0)`,
      values: [from.position, from.day, to.day, to.position, to.id],
    });
    if (rowCount === 0) throw outdated();
  }

  /** Removes days before one, and those of environments that were deleted, in small steps. */
  async removeGone(before: number): Promise<void> {
    const isGone = `(gone.day < ${dayOf('$1')} OR gone.environment NOT IN (
      SELECT (kept.value->>'number')::bigint
      FROM fm_record, jsonb_array_elements(fm_record.value::jsonb->'environments') AS kept(value)
      WHERE "table" = 'applications'))`;
    const rows = {
      name: 'fm-daily-remove',
      text: `DELETE FROM fm_daily WHERE ctid IN (SELECT daily.ctid FROM fm_day AS gone
               JOIN fm_daily AS daily USING (environment, day) WHERE ${isGone} LIMIT $2)`,
      values: [before, stepRows],
    };
    while ((await this.#session.query(rows)).rowCount > 0);
    const text = `DELETE FROM fm_day AS gone WHERE ${isGone}`;
    await this.#session.query({ name: 'fm-daily-drop', text, values: [before] });
  }
}

function outdated(): ExportOutdated {
  return new ExportOutdated('The log is another one than the replica has, or another node was faster');
}

/** Counts are whole, and those beyond what a double says exactly are as good as equal. */
function whole(count: number): string {
  return String(BigInt(Math.min(Math.round(count), Number.MAX_SAFE_INTEGER)));
}
