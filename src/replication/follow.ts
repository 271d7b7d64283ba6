import type { StoredEntry } from './entry.ts';
import type { PostgresSession } from './postgres/connection.ts';
import type { LogRead } from './postgres/follower.ts';
import type { LogPosition } from './postgres/log-position.ts';

/** What a read of the log brings at most: about this much, so that a long log is applied in small steps. */
const maxEntries = 256;
const maxBytes = 2 * 1024 * 1024;

/** Reads the entries from the last one that a replica has applied. */
export async function readEntries(
  session: PostgresSession,
  from: LogPosition,
): Promise<LogRead<StoredEntry>> {
  const { rows: entries } = await session.query<StoredEntry>({
    name: 'fm-follow',
    text: `SELECT position::float8, id::text, kind, coalesce(stream, '') AS stream, coalesce(seq, 0)::float8 AS seq, body FROM (
             SELECT *, sum(coalesce(octet_length(body), 0)) OVER (ORDER BY position) AS bytes,
               row_number() OVER (ORDER BY position) AS place
             FROM (SELECT * FROM fm_entry WHERE position > $1 ORDER BY position LIMIT $2) AS next
           ) AS measured
           WHERE bytes <= $3 OR place = 1
           UNION ALL
           SELECT position, id::text, kind, '', 0, NULL FROM fm_entry WHERE position = $1
           ORDER BY position`,
    values: [from.position, maxEntries, maxBytes],
  });
  return { from, entries };
}

/**
 * Finds the first entry after a position that is not there with its body, or the one at that position.
 * @returns `undefined` when a replica that stands there can follow the log to its end
 */
export async function firstMissing(
  session: PostgresSession,
  { position, id }: LogPosition,
): Promise<number | undefined> {
  const { rows } = await session.query<{ begins: boolean; missing: number; head: number }>({
    name: 'fm-follow-missing',
    text: `SELECT $1::bigint = 0 OR EXISTS (SELECT 1 FROM fm_entry WHERE position = $1 AND id = $2) AS begins,
             ($1 + 1 + count(*) FILTER (WHERE position = place))::float8 AS missing,
             (SELECT position::float8 FROM fm_head WHERE log = 'data') AS head
           FROM (SELECT position, $1 + row_number() OVER (ORDER BY position) AS place FROM fm_entry
             WHERE position > $1 AND body IS NOT NULL) AS kept`,
    values: [position, id],
  });
  const { begins, missing, head } = rows[0]!;
  if (!begins) return position;
  return missing > head ? undefined : missing;
}
