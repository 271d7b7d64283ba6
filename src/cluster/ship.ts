import type { EngineSession } from '../postgres/connection.ts';
import { newLogId } from '../postgres/log-id.ts';
import { engineNow } from '../postgres/shared-clock.ts';
import type { Statement } from '../postgres/statement.ts';

/** A sealed delta as it is shipped. */
export interface SealedDelta {
  readonly seq: number;
  readonly body: Buffer;
  /** SHA-256 of the body. */
  readonly digest: Buffer;
  /** See `Delta`. */
  readonly through: number;
  readonly since: number;
  readonly version: number;
}

export interface Shipped {
  /** Of the last delta in the log. */
  readonly position: number;
  /** The engine's clock, Unix ms. */
  readonly at: number;
}

/**
 * Appends deltas of one stream, which follow one another, to the log. One row decides: the stream's, which has to say that
 * the delta before the first is the last one there. So a delta is in the log once, however often it is sent.
 * @param before the digest of the delta before, hex: a copy of the directory may have shipped another; `undefined` when it is not
 *   kept any more
 * @returns `undefined` when the row says something else; nothing was appended then
 * @throws {EngineError} `unknown_outcome` when it is not known whether they are in the log
 */
export async function ship(
  session: EngineSession,
  stream: string,
  deltas: readonly SealedDelta[],
  before: string | undefined,
): Promise<Shipped | undefined> {
  const first = deltas[0]!.seq;
  const last = deltas.at(-1)!;
  const kept = await session.transaction(async (run) => {
    const fence = await run<{ at: bigint }>({
      name: 'fm-ship-fence',
      text: `UPDATE fm_stream SET seq = $2, digest = $3, through = $4, since = $5, version = $6
             WHERE stream = $1 AND seq = $7 AND state = 'open' AND digest IN ('', coalesce(decode($8, 'hex'), digest))
             RETURNING ${engineNow} AS at`,
      values: [stream, last.seq, last.digest, last.through, last.since, last.version, first - 1, before],
    });
    if (fence.rows.length === 0) return undefined;
    // It is not waited for here, so that COMMIT travels with it.
    return { at: Number(fence.rows[0]!.at), appended: run<{ position: bigint }>(append(stream, deltas)) };
  });
  if (kept === undefined) return undefined;
  const [head] = (await kept.appended).rows;
  return { position: Number(head!.position), at: kept.at };
}

/**
 * The stream's row is locked before the head's, by everyone: no two can wait for each other. It fails (division by zero) when there
 * is no head: an engine that is being restored may not have it yet.
 */
function append(stream: string, deltas: readonly Pick<SealedDelta, 'seq' | 'body'>[]): Statement {
  const rows = deltas.map(
    (_, at) => `($${3 * at + 4}::bigint, $${3 * at + 5}::bigint, $${3 * at + 6}::bytea)`,
  );
  const ids = deltas.map(() => newLogId());
  return {
    name: `fm-ship-${deltas.length}`,
    text: `WITH head AS (
             UPDATE fm_head SET position = position + $2::bigint, id = $3 WHERE log = 'data' RETURNING position
           ), added AS (
             INSERT INTO fm_entry (position, id, at, kind, stream, seq, body)
             SELECT head.position - $2::bigint + row_number() OVER (ORDER BY delta.seq), delta.id, now(), 'delta', $1, delta.seq, delta.body
             FROM head, (VALUES ${rows.join(', ')}) AS delta (id, seq, body)
           )
           SELECT max(position) AS position, 1 / count(*) AS appended FROM head`,
    values: [
      stream,
      deltas.length,
      ids.at(-1),
      ...deltas.flatMap(({ seq, body }, at) => [ids[at], seq, body]),
    ],
  };
}

/**
 * Makes the stream's row, when there is none: nothing of it is in the log. It fails when the table has no key: rows of a backup come
 * before the keys, so this one may come still.
 */
export async function register(session: EngineSession, stream: string, directory: string): Promise<void> {
  await session.query({
    name: 'fm-register',
    text: `INSERT INTO fm_stream (stream, directory, seq, digest, through, since, version, state)
           VALUES ($1, $2, 0, '', 0, 0, 0, 'open') ON CONFLICT (stream) DO NOTHING`,
    values: [stream, directory],
  });
}

/** All of the stream is shipped, and there will be no more of it. */
export async function markDone(session: EngineSession, stream: string, seq: number): Promise<boolean> {
  const marked = await session.query({
    name: 'fm-done',
    text: `UPDATE fm_stream SET state = 'done' WHERE stream = $1 AND seq = $2 AND state = 'open' RETURNING 1`,
    values: [stream, seq],
  });
  return marked.rows.length > 0;
}
