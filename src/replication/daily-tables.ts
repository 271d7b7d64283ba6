import type { Counts } from '../storage/lmdb/cells.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { LogPosition } from './postgres/log-position.ts';

/** Days since the epoch, both inclusive. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** Days up to `day` are written, with all entries up to `position`. */
export interface WrittenUntil {
  readonly position: number;
  readonly day: number;
}

/** The usage of a variant on a day, or of all variants of a feature. */
export interface DailyRow extends Counts {
  readonly feature: string;
  /** `featureItself` for all variants. */
  readonly variant: string;
  readonly users: number;
}

/** A day of an environment in a replica that has applied an entry. */
interface DailyPlace {
  readonly environment: number;
  readonly day: number;
  readonly applied: LogPosition;
}

/** PostgreSQL reverted to an earlier state: its log does not have the entry that the replica has applied. */
class ExportOutdated extends Error {
  override readonly name = 'ExportOutdated';
}

/** A node whose lease is older than this is gone. */
const leaseMs = 15_000;
const stepRows = 1000;

const dayOf = (parameter: string) => `(date '1970-01-01' + ${parameter}::int)`;
const numberOf = (column: string) => `(${column} - date '1970-01-01')`;
const isInLog = (position: string, id: string) =>
  `EXISTS (SELECT 1 FROM fm_entry WHERE position = ${position} AND id = ${id})`;

/** The PostgreSQL tables of usage by days: see postgres/daily-schema.ts. Each statement commits. */
export class DailyTables {
  readonly #session: PostgresSession;
  readonly #directory: string;

  constructor(session: PostgresSession, directory: string) {
    this.#session = session;
    this.#directory = directory;
  }

  /** Takes or renews the lease. Returns `undefined` if another node has it. */
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

  /** The positions of the rows written, by environment and day. */
  async positions({ from, to }: DayRange): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#session.query<{ environment: bigint; day: number; position: bigint }>({
      name: 'fm-daily-positions',
      text: `SELECT environment, ${numberOf('day')} AS day, position FROM fm_day
             WHERE day BETWEEN ${dayOf('$1')} AND ${dayOf('$2')}`,
      values: [from, to],
    });
    return new Map(rows.map(({ environment, day, position }) => [`${environment} ${day}`, Number(position)]));
  }

  /** Registers a day before its first row is written, so that its rows are found when the day is removed. */
  async begin({ environment, day }: DailyPlace): Promise<void> {
    await this.#session.query({
      name: 'fm-daily-begin',
      text: `INSERT INTO fm_day (environment, day) VALUES ($1, ${dayOf('$2')}) ON CONFLICT DO NOTHING`,
      values: [environment, day],
    });
  }

  /** Writes rows, except over rows of a later position. */
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

  /** Marks a day as written, and removes its obsolete rows. @throws {ExportOutdated} */
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

  /** Notes how far days are written, unless another node has. @throws {ExportOutdated} */
  async advance(from: WrittenUntil, to: LogPosition & WrittenUntil): Promise<void> {
    const { rowCount } = await this.#session.query({
      name: 'fm-daily-advance',
      text: `UPDATE fm_export SET position = greatest(position, $4), day = greatest(day, ${dayOf('$3')})
             WHERE position = $1 AND day = ${dayOf('$2')} AND (${isInLog('$4', '$5')} OR $4 = 0)`,
      values: [from.position, from.day, to.day, to.position, to.id],
    });
    if (rowCount === 0) throw outdated();
  }

  /** Removes the days before a day, and those of deleted environments, in small steps. */
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
  return new ExportOutdated('The log differs from that of the replica, or another node was faster');
}

/** Rounds a count. Those beyond the exact range of a double are clamped. */
function whole(count: number): string {
  return String(BigInt(Math.min(Math.round(count), Number.MAX_SAFE_INTEGER)));
}
