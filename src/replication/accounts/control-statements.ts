import type { History, StoredChange } from '../../accounts/store/history.ts';
import type { EngineSession } from '../postgres/connection.ts';
import type { LogPosition } from '../postgres/log-position.ts';
import { engineNow } from '../postgres/shared-clock.ts';
import type { QueryResult, Statement } from '../postgres/statement.ts';
import type { StoredRecord } from './record-codec.ts';

/** Locks the end of the history: it stays where it is until the transaction ends. */
export const lockHead: Statement = {
  name: 'fm_control_lock',
  text: `SELECT position, id, ${engineNow} AS at FROM fm_head WHERE log = 'control' FOR UPDATE`,
};

/** The changes from a version on. */
export function changesFrom(version: number): Statement {
  return {
    name: 'fm_control_changes',
    text: 'SELECT version, id AS change, writes FROM fm_change WHERE version >= $1 ORDER BY version',
    values: [version],
  };
}

/**
 * Reads the end of the history, and the changes from the node's place on, in a transaction that writes: its commit confirms
 * all that it has read, as one that only reads would not.
 */
export function confirmedHistory(directory: string, { position }: LogPosition): Statement {
  return {
    name: 'fm_control_confirm',
    text: `WITH beat AS (INSERT INTO fm_node (directory, control) VALUES ($1, $2)
    ON CONFLICT (directory) DO UPDATE SET control = excluded.control RETURNING 1)
SELECT h.position, h.id, ${engineNow} AS at, (SELECT id FROM fm_engine) AS engine, c.version, c.id AS change, CASE WHEN c.version > $2 THEN c.writes END AS writes
FROM beat CROSS JOIN fm_head h LEFT JOIN fm_change c ON c.version >= $2 AND c.version <= h.position
WHERE h.log = 'control' ORDER BY c.version`,
    values: [directory, position],
  };
}

/** Writes a change. It fails (division by zero) unless the history ends where the change was planned. */
export function writeChange(
  after: LogPosition,
  id: string,
  text: string,
  records: readonly StoredRecord[],
): Statement {
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

/** All accounts at one moment. */
export interface AllAccounts {
  /** The id of the engine. */
  readonly engine: unknown;
  readonly head: LogPosition;
  readonly records: readonly StoredRecord[];
  /** The oldest change that is kept, and the id of the one that was asked for. */
  readonly kept: { readonly oldest: number; readonly id: string };
}

/**
 * Reads all accounts, unconfirmed. @param version of a change that is looked for
 * @throws {Error} when there are no records: accounts have them from their first version on
 */
export function readAccounts(connection: EngineSession, version = 0): Promise<AllAccounts> {
  return connection.transaction(async (run) => {
    const [, found, { rows }] = await Promise.all([
      run({ text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ' }),
      run({
        text: `SELECT position, id, (SELECT id FROM fm_engine) AS engine, (SELECT min(version) FROM fm_change) AS oldest,
          (SELECT id FROM fm_change WHERE version = $1) AS change FROM fm_head WHERE log = 'control'`,
        values: [version],
      }),
      run<{ table: string; key: string; value: string }>({
        text: 'SELECT "table", key, value FROM fm_record',
      }),
    ]);
    const head = placeOf(found);
    if (rows.length === 0 && head.position > 0)
      throw new Error('The engine has no records of its accounts: it is being restored, or has to be');
    const { engine, oldest, change } = found.rows[0]!;
    const kept = { oldest: oldest === null ? Infinity : Number(oldest), id: String(change) };
    return { engine, head, records: rows, kept };
  });
}

/** Where the history ends. */
export function placeOf({ rows: [row] }: QueryResult): LogPosition {
  if (row === undefined)
    throw new Error('The engine has no head of the accounts: flagmeter engine init makes it');
  return { position: Number(row['position']), id: String(row['id']) };
}

/** PostgreSQL's time in a row of `lockHead` or `confirmedHistory`, Unix ms. */
export function timeOf({ rows: [row] }: QueryResult): number {
  return Number(row!['at']);
}

/** What `changesFrom` or `confirmedHistory` has read. @param head where the history ends */
export function historyOf(head: QueryResult, { rows }: QueryResult = head): History {
  const entries: StoredChange[] = rows
    .filter(({ version }) => version !== null)
    .map(({ version, change, writes }) => ({
      position: Number(version),
      id: String(change),
      body: writes as string | null,
    }));
  return { head: placeOf(head), entries };
}
