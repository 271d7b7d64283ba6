import type { Applied, Entry } from './entry.ts';
import type { EngineSession } from './postgres/connection.ts';

/** What a read of the log brings at most: about this much, so that a long log is applied in small steps. */
const maxEntries = 256;
const maxBytes = 2 * 1024 * 1024;

/** What follows in the log. */
export type Followed =
  | { readonly known: true; readonly entries: readonly Entry[] }
  /**
   * The engine does not have what the replica applied last (`isLost`), or not what follows it: the replica has to be loaded anew.
   */
  | { readonly known: false; readonly reason: string; readonly isLost?: true };

/**
 * Reads the entries after what a replica has applied. The last applied one is read too: that it is there, with its id, says
 * that the replica holds a part of this very log.
 */
export async function readEntries(session: EngineSession, applied: Applied): Promise<Followed> {
  const { rows: found } = await session.query<LogRow>({
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
    values: [applied.position, maxEntries, maxBytes],
  });
  if (applied.position > 0) {
    const own = found.shift();
    if (own === undefined || own.position !== applied.position || own.id !== applied.id)
      return { known: false, reason: 'the engine does not have what was applied last', isLost: true };
  }
  const hole = found.findIndex((row, at) => row.position !== applied.position + 1 + at);
  if (hole >= 0) return { known: false, reason: 'a part of the log is not there' };
  const trimmed = found.findIndex(({ body }) => body === null);
  if (trimmed >= 0) return { known: false, reason: 'the log goes on in a snapshot' };
  return { known: true, entries: found as Entry[] };
}

/**
 * Finds the first entry after a position that is not there with its body, or the one at that position.
 * @returns `undefined` when a replica that stands there can follow the log to its end
 */
export async function firstMissing(
  session: EngineSession,
  { position, id }: Applied,
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

type LogRow = Omit<Entry, 'body'> & { readonly body: Buffer | null };
