import type { PostgresSession } from '../postgres/connection.ts';
import type { LogPosition, LogRead } from '../postgres/follower.ts';
import { noHead } from '../postgres/postgres-error.ts';
import type { Run, Statement } from '../postgres/session.ts';
import { postgresNow } from '../postgres/shared-clock.ts';
import type { StoredChange, StoredRecord } from './record-codec.ts';

/** The changes from a version to the end of the history. */
export interface History extends Required<Pick<LogRead<StoredChange>, 'head' | 'entries'>> {
  /** PostgreSQL's time, Unix ms. */
  readonly at: number;
}

interface Head extends LogPosition {
  readonly at: number;
}

const head = `position::float8, id::text, ${postgresNow}::float8 AS at`;
const change = 'version::float8 AS position, id::text';

/** Locks the end of the history until the transaction ends. Reads all changes from a version on. */
export async function lockHistory(run: Run, version: number): Promise<History> {
  const [{ rows: heads }, { rows: entries }] = await Promise.all([
    run<Head>({ name: 'fm_control_lock', text: `SELECT ${head} FROM fm_head WHERE log = 'control' FOR UPDATE` }),
    run<StoredChange>({
      name: 'fm_control_changes',
      text: `SELECT ${change}, writes AS body FROM fm_change WHERE version >= $1 ORDER BY version`,
      values: [version],
    }),
  ]);
  const [last = noHead()] = heads;
  return { head: last, at: last.at, entries };
}

interface ConfirmedRow extends Head {
  readonly engine: string | null;
  readonly entries: readonly StoredChange[];
}

/**
 * Reads the end of the history and the changes since the node's version. The transaction writes, so that its
 * synchronous commit confirms the read changes.
 */
export async function confirmHistory(
  session: PostgresSession,
  directory: string,
  { position }: LogPosition,
): Promise<History & Pick<ConfirmedRow, 'engine'>> {
  const { rows } = await session.query<ConfirmedRow>({
    name: 'fm_control_confirm',
    text: `WITH beat AS (INSERT INTO fm_node (directory, control) VALUES ($1, $2)
    ON CONFLICT (directory) DO UPDATE SET control = excluded.control RETURNING 1)
SELECT ${head}, (SELECT id FROM fm_engine) AS engine, (
    SELECT coalesce(json_agg(entry), '[]') FROM (
      SELECT ${change}, CASE WHEN version > $2 THEN writes END AS body FROM fm_change
      WHERE version BETWEEN $2 AND head.position ORDER BY version) AS entry
  ) AS entries FROM fm_head AS head CROSS JOIN beat WHERE log = 'control'`,
    values: [directory, position],
  });
  const [{ engine, entries, ...last } = noHead()] = rows;
  return { head: last, at: last.at, engine, entries };
}

/** Writes a change. The statement fails with a division by zero unless the history ends at `after`. */
export function writeChange(after: LogPosition, id: string, text: string, records: readonly StoredRecord[]): Statement {
  const gone = records.filter(({ value }) => value === undefined);
  const kept = records.filter(({ value }) => value !== undefined);
  return {
    name: 'fm_control_write',
    text: `WITH head AS (UPDATE fm_head SET position = position + 1, id = $1
    WHERE log = 'control' AND position = $2 AND id = $3 RETURNING position),
  change AS (INSERT INTO fm_change (version, id, at, writes) SELECT position, $1, now(), $4 FROM head),
  gone AS (DELETE FROM fm_record r USING head, unnest($5::text[], $6::text[]) AS w(t, k)
    WHERE r."table" = w.t AND r.key = w.k),
  kept AS (INSERT INTO fm_record ("table", key, value)
    SELECT w.t, w.k, w.v FROM head, unnest($7::text[], $8::text[], $9::text[]) AS w(t, k, v)
    ON CONFLICT ("table", key) DO UPDATE SET value = excluded.value)
SELECT 1 / count(*) AS written FROM head`,
    values: [
      ...[id, after.position, after.id, text],
      ...[gone.map(({ table }) => table), gone.map(({ key }) => key)],
      ...[kept.map(({ table }) => table), kept.map(({ key }) => key), kept.map(({ value }) => value)],
    ],
  };
}

/** All accounts at one point in time. */
interface AllAccounts {
  readonly engine: string | null;
  readonly head: LogPosition;
  readonly records: readonly StoredRecord[];
  /** Version of the oldest retained change; `null` without changes. */
  readonly oldest: number | null;
  readonly change: string | null;
}

/**
 * Reads all accounts, without a commit that confirms the read.
 * @param version version of the change to look up
 * @throws {Error} if the history has changes, but the database has no records
 */
export function readAccounts(session: PostgresSession, version = 0): Promise<AllAccounts> {
  return session.transaction(async (run) => {
    const [, { rows }, { rows: records }] = await Promise.all([
      run({ text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ' }),
      run<Omit<AllAccounts, 'head' | 'records'> & Head>({
        text: `SELECT ${head}, (SELECT id FROM fm_engine) AS engine, (SELECT min(version)::float8 FROM fm_change) AS oldest,
          (SELECT id::text FROM fm_change WHERE version = $1) AS change FROM fm_head WHERE log = 'control'`,
        values: [version],
      }),
      run<StoredRecord>({ text: 'SELECT "table", key, value FROM fm_record' }),
    ]);
    const [{ engine, oldest, change, ...last } = noHead()] = rows;
    if (records.length === 0 && last.position > 0)
      throw new Error('PostgreSQL has no records of the accounts: restore it, or wait until the restore has finished');
    return { engine, oldest, change, head: last, records };
  });
}
