import { engineNow } from '../postgres/shared-clock.ts';
import type { QueryResult, Statement } from '../postgres/statement.ts';
import type { Place } from './account-change.ts';
import type { History, StoredChange } from './history.ts';
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
    text: 'SELECT version, id, writes FROM fm_change WHERE version >= $1 ORDER BY version',
    values: [version],
  };
}

/**
 * Reads the end of the history, and the changes from the node's place on, in a transaction that writes: its commit confirms
 * all that it has read, as one that only reads would not.
 */
export function confirmedHistory(directory: string, { version }: Place): Statement {
  return {
    name: 'fm_control_confirm',
    text: `WITH beat AS (UPDATE fm_node SET control = $2 WHERE directory = $1 RETURNING 1)
SELECT h.position, h.id, ${engineNow} AS at, c.version, c.id AS change, CASE WHEN c.version > $2 THEN c.writes END AS writes
FROM beat CROSS JOIN fm_head h LEFT JOIN fm_change c ON c.version >= $2 AND c.version <= h.position
WHERE h.log = 'control' ORDER BY c.version`,
    values: [directory, version],
  };
}

/** Makes the node's row, which `confirmedHistory` writes to. */
export function addNode(directory: string): Statement {
  return {
    name: 'fm_control_node',
    text: 'INSERT INTO fm_node (directory) VALUES ($1) ON CONFLICT (directory) DO NOTHING',
    values: [directory],
  };
}

/** Writes a change. It fails (division by zero) unless the history ends where the change was planned. */
export function writeChange(
  after: Place,
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
      ...[id, after.version, after.id, text],
      ...[gone.map(({ table }) => table), gone.map(({ key }) => key)],
      ...[kept.map(({ table }) => table), kept.map(({ key }) => key), kept.map(({ value }) => value)],
    ],
  };
}

/** All statements of the transaction see the same state. */
export const repeatableRead: Statement = {
  name: 'fm_control_repeatable',
  text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
};

export const readHead: Statement = {
  name: 'fm_control_head',
  text: "SELECT position, id FROM fm_head WHERE log = 'control'",
};

export const readRecords: Statement = {
  name: 'fm_control_records',
  text: 'SELECT "table", key, value FROM fm_record',
};

/** Where the kept changes begin, and the id of one of them. */
export function keptChanges(version: number): Statement {
  return {
    name: 'fm_control_kept',
    text: 'SELECT min(version) AS oldest, max(id) FILTER (WHERE version = $1) AS id FROM fm_change',
    values: [version],
  };
}

export const readEngineId: Statement = {
  name: 'fm_control_engine',
  text: 'SELECT id FROM fm_engine',
};

/** Forgets some changes that are older than a day. The last ones stay however old: nodes that idle stand there. */
export const forgetOldChanges: Statement = {
  name: 'fm_control_forget',
  text: `DELETE FROM fm_change WHERE at < now() - interval '1 day'
AND version < (SELECT position FROM fm_head WHERE log = 'control') - 1000
AND version < (SELECT min(version) FROM fm_change) + 10000`,
};

/** Where the history ends. */
export function placeOf({ rows: [row] }: QueryResult): Place {
  if (row === undefined)
    throw new Error('The engine has no head of the accounts: flagmeter engine init makes it');
  return { version: Number(row['position']), id: String(row['id']) };
}

/** PostgreSQL's time in a row of `lockHead` or `confirmedHistory`, Unix ms. */
export function timeOf({ rows: [row] }: QueryResult): number {
  return Number(row!['at']);
}

/** What `changesFrom` has read. */
export function changesOf({ rows }: QueryResult): readonly StoredChange[] {
  return rows.map(({ version, id, writes }) => ({
    version: Number(version),
    id: String(id),
    writes: writes as string | null,
  }));
}

/** What `confirmedHistory` has read. */
export function historyOf(found: QueryResult): History {
  const changes = found.rows.filter(({ version }) => version !== null);
  return {
    head: placeOf(found),
    changes: changes.map(({ version, change, writes }) => ({
      version: Number(version),
      id: String(change),
      writes: writes as string | null,
    })),
  };
}

/** What `readRecords` has read. @throws {Error} when that is nothing: accounts have records from their first version on */
export function recordsOf({ rows }: QueryResult, { version }: Place): readonly StoredRecord[] {
  if (rows.length === 0 && version > 0)
    throw new Error('The engine has no records of its accounts: it is being restored, or has to be');
  return rows.map(({ table, key, value }) => ({
    table: String(table),
    key: String(key),
    value: String(value),
  }));
}
