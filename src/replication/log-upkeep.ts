import { createHash, randomUUID } from 'node:crypto';
import type { Log } from '../runtime/log.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { LogPosition } from './postgres/follower.ts';
import type { Replica } from './replica.ts';

/** Parameters for snapshots of the usage in PostgreSQL. Nodes that join or are far behind load the newest snapshot. */
interface SnapshotDeps {
  readonly session: PostgresSession;
  readonly replica: Replica;
  readonly directory: string;
  readonly log: Log;
  /** Minimum growth of the log before a snapshot. The growth must also exceed the size of the previous snapshot. */
  readonly leastBytes: number;
}

/** Duration of the lease for making a snapshot. If a node does not renew its lease, another node can take it. */
const leaseMs = 15_000;
/** Time for which bodies of entries are kept after a snapshot includes them, for nodes that are slightly behind. */
const bodiesMs = 3_600_000;

/** Finds the newest complete snapshot. */
export async function newestSnapshot(
  session: PostgresSession,
): Promise<{ readonly snapshot: string; readonly applied: LogPosition; readonly bytes: number } | undefined> {
  const { rows } = await session.query<{ snapshot: string; position: bigint; id: string; bytes: bigint }>({
    name: 'fm-snapshot-newest',
    text: `SELECT snapshot, position, id::text, bytes FROM fm_snapshot WHERE state = 'whole' ORDER BY position DESC, at DESC LIMIT 1`,
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return { snapshot: row.snapshot, applied: { position: Number(row.position), id: row.id }, bytes: Number(row.bytes) };
}

/** Reads the parts of a snapshot. @throws {Error} if the snapshot is removed during the read */
export async function* readSnapshotParts(session: PostgresSession, snapshot: string): AsyncGenerator<Buffer> {
  const { rows } = await session.query<{ parts: number }>({
    name: 'fm-snapshot-parts',
    text: 'SELECT count(*)::int AS parts FROM fm_snapshot_part WHERE snapshot = $1',
    values: [snapshot],
  });
  const parts = Math.max(rows[0]!.parts, 1);
  for (let part = 0; part < parts; part += 1) {
    const found = await session.query<{ body: Buffer }>({
      name: 'fm-snapshot-part',
      text: 'SELECT body FROM fm_snapshot_part WHERE snapshot = $1 AND part = $2',
      values: [snapshot, part],
    });
    if (found.rows[0] === undefined) throw new Error('The snapshot was removed during the read');
    yield found.rows[0].body;
  }
}

/** Makes a snapshot if one is due and no other node is making one. Two concurrent snapshots do no harm. */
export async function makeSnapshot(deps: SnapshotDeps): Promise<boolean> {
  const { session, replica, directory, log } = deps;
  if (replica.isLoading || !(await isDue(deps))) return false;
  const snapshot = randomUUID();
  const content = replica.snapshot();
  try {
    const { position, id } = content.applied;
    const { rows } = await session.query({
      name: 'fm-snapshot-begin',
      text: `INSERT INTO fm_snapshot (snapshot, position, id, state, directory, at, bytes)
             SELECT $1, $2, $3, 'building', $4, now(), 0 WHERE NOT EXISTS (
               SELECT 1 FROM fm_snapshot WHERE state = 'building' AND at > now() - $5 * interval '1 ms') RETURNING 1`,
      values: [snapshot, position, id, directory, leaseMs],
    });
    if (rows.length === 0) return false;
    const made = await uploadParts(session, snapshot, content.parts());
    await session.query({
      name: 'fm-snapshot-whole',
      text: `UPDATE fm_snapshot SET state = 'whole', at = now(), bytes = $2 WHERE snapshot = $1`,
      values: [snapshot, made.bytes],
    });
    log.info('made a snapshot of the log', { position, ...made });
    return true;
  } finally {
    content.close();
  }
}

export interface UploadResult {
  readonly parts: number;
  readonly bytes: number;
}

/**
 * Uploads the parts of a snapshot, each in a transaction that also renews the lease. Skips parts that are already
 * uploaded.
 */
export async function uploadParts(
  session: Pick<PostgresSession, 'query'>,
  snapshot: string,
  bodies: AsyncIterable<Buffer>,
  onPart: (uploaded: UploadResult) => void = () => {},
): Promise<UploadResult> {
  const { rows } = await session.query<{ part: number; digest: Buffer }>({
    text: 'SELECT part, sha256(body) AS digest FROM fm_snapshot_part WHERE snapshot = $1',
    values: [snapshot],
  });
  const there = new Map(rows.map(({ part, digest }) => [part, digest]));
  let uploaded: UploadResult = { parts: 0, bytes: 0 };
  for await (const body of bodies) {
    const part = uploaded.parts;
    if (there.get(part)?.equals(createHash('sha256').update(body).digest()) !== true)
      await session.query({
        name: 'fm-snapshot-put',
        text: `WITH lease AS (UPDATE fm_snapshot SET at = now() WHERE snapshot = $1)
               INSERT INTO fm_snapshot_part (snapshot, part, body) VALUES ($1, $2, $3)
               ON CONFLICT (snapshot, part) DO UPDATE SET body = excluded.body`,
        values: [snapshot, part, body],
      });
    uploaded = { parts: part + 1, bytes: uploaded.bytes + body.length };
    onPart(uploaded);
  }
  return uploaded;
}

/**
 * True if a new snapshot is due: if the log has grown, if people were forgotten, whom the new snapshot omits, or if
 * PostgreSQL has lost entries of the log. A node that lacks the lost entries can load a snapshot of a node that has
 * these entries.
 */
async function isDue({ session, leastBytes }: SnapshotDeps): Promise<boolean> {
  const newest = await newestSnapshot(session);
  const { rows } = await session.query<{ bytes: bigint | string; forgets: boolean; broken: boolean }>({
    name: 'fm-snapshot-due',
    text: `SELECT coalesce(sum(octet_length(body)), 0) AS bytes,
             coalesce(bool_or(kind IN ('forget', 'erase') AND at < now() - $2 * interval '1 ms'), false) AS forgets,
             count(body) < (SELECT position FROM fm_head WHERE log = 'data') - $1 AS broken
           FROM fm_entry WHERE position > $1`,
    values: [newest?.applied.position ?? 0, bodiesMs],
  });
  const { bytes, forgets, broken } = rows[0]!;
  return forgets || broken || Number(bytes) > Math.max(leastBytes, newest?.bytes ?? 0);
}

/** Retention of account changes and of usage entry ids. After a longer absence, a node must replace its content. */
const idsMs = 86_400_000;
/** Number of latest changes that are kept regardless of their age. */
const keptChanges = 1000;
/** Time that a deregistered or forgotten node stays in the list of nodes. Each heartbeat reads this list. */
const nodesMs = 7 * 86_400_000;
const refusedMs = 7 * 86_400_000;
/** Maximum number of rows removed by one statement. */
const stepRows = 1000;

/**
 * Trims the logs of usage and account changes in small steps.
 * @returns the number of entries whose bodies were removed
 */
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
  // Reads only the oldest rows, because changes have no index by time.
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

/** Returns SQL that selects old rows, except rows that another node is removing. */
const some = (column: string, table: string, ms: number, rest = '') =>
  `SELECT ${column} FROM ${table} WHERE ${isOlder('at', ms)} ${rest} LIMIT ${stepRows} FOR UPDATE SKIP LOCKED`;
