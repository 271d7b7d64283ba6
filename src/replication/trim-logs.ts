import { bodiesMs, newestSnapshot } from './log-snapshots.ts';
import type { PostgresSession } from './postgres/connection.ts';

/** Retention of account changes and of usage entry ids. A node that was away for longer replaces its content. */
const idsMs = 86_400_000;
/** Number of last changes kept regardless of age, for idle nodes. */
const keptChanges = 1000;
/** Time that a deregistered or forgotten node is listed. Each heartbeat reads the list. */
const nodesMs = 7 * 86_400_000;
const refusedMs = 7 * 86_400_000;
/** Rows removed by one statement. */
const stepRows = 1000;

/** Trims both logs in small steps. Every node may do it. @returns the number of entries whose bodies were removed */
export async function trimLogs(session: PostgresSession): Promise<number> {
  const until = async (name: string, text: string, ...values: (string | number)[]) => {
    for (let touched = 0; ; ) {
      const { rowCount } = await session.query({ name: `fm-trim-${name}`, text, values });
      if (rowCount === 0) return touched;
      touched += rowCount;
    }
  };
  await until(
    'nodes',
    `DELETE FROM fm_node AS node WHERE state IN ('done', 'forgotten') AND ${isOlder('beat_at', nodesMs)}
     AND NOT EXISTS (SELECT 1 FROM fm_stream AS stream WHERE stream.directory = node.directory AND stream.state = 'open')`,
  );
  await until('refused', `DELETE FROM fm_refused WHERE ctid IN (${some('ctid', 'fm_refused', refusedMs)})`);
  // Only the first rows are read, because changes have no index by time.
  await until(
    'changes',
    `DELETE FROM fm_change WHERE ${isOlder('at', idsMs)}
     AND version < (SELECT position FROM fm_head WHERE log = 'control') - ${keptChanges}
     AND version < (SELECT min(version) FROM fm_change) + ${stepRows}`,
  );
  const newest = await newestSnapshot(session);
  if (newest === undefined) return 0;
  const { snapshot, applied } = newest;
  const trimmed = await until(
    'bodies',
    `UPDATE fm_entry SET body = NULL WHERE position IN (
       ${some('position', 'fm_entry', bodiesMs, 'AND position <= $1 AND body IS NOT NULL ORDER BY position')})`,
    applied.position,
  );
  await until(
    'ids',
    `DELETE FROM fm_entry WHERE position IN (
       ${some('position', 'fm_entry', idsMs, 'AND position < $1 ORDER BY position')})`,
    applied.position,
  );
  const old = `SELECT snapshot FROM fm_snapshot WHERE snapshot <> $1 AND ${isOlder('at', bodiesMs)}`;
  await until(
    'parts',
    `DELETE FROM fm_snapshot_part WHERE (snapshot, part) IN (
       SELECT snapshot, part FROM fm_snapshot_part WHERE snapshot IN (${old}) LIMIT 64)`,
    snapshot,
  );
  await until(
    'snapshots',
    `DELETE FROM fm_snapshot WHERE snapshot IN (${old})
     AND NOT EXISTS (SELECT 1 FROM fm_snapshot_part AS part WHERE part.snapshot = fm_snapshot.snapshot)`,
    snapshot,
  );
  return trimmed;
}

const isOlder = (column: string, ms: number) => `${column} < now() - interval '${ms} ms'`;

/** Selects old rows that no other node is removing. */
const some = (column: string, table: string, ms: number, rest = '') =>
  `SELECT ${column} FROM ${table} WHERE ${isOlder('at', ms)} ${rest} LIMIT ${stepRows} FOR UPDATE SKIP LOCKED`;
