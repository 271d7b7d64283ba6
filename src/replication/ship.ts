import { createHash } from 'node:crypto';
import { append } from './log.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { postgresNow } from './postgres/shared-clock.ts';
import type { Statement } from './postgres/statement.ts';
import type { SealedDelta } from './spool.ts';

/**
 * Appends consecutive deltas of one stream to the log. The row of the stream is a fence: it must name the delta before the first. So
 * each delta is in the log once, however often it is sent. Every transaction locks the row of the stream before the head, which
 * prevents deadlocks.
 * @param before the previous delta, since a copy of the directory may have shipped another; `undefined` if it is no longer kept
 * @returns PostgreSQL's time, Unix ms; `undefined` if the fence rejected them: nothing was appended
 * @throws {PostgresError} `unknown_outcome` if it is unknown whether they are in the log
 */
export async function ship(
  session: PostgresSession,
  stream: string,
  deltas: readonly SealedDelta[],
  before: SealedDelta | undefined,
): Promise<number | undefined> {
  const first = deltas[0]!.seq;
  const { seq, through, since, version, body } = deltas.at(-1)!;
  const kept = await session.transaction(async (run) => {
    const fence = await run<{ at: bigint }>({
      name: 'fm-ship-fence',
      text: `UPDATE fm_stream SET seq = $2, digest = $3, through = $4, since = $5, version = $6
             WHERE stream = $1 AND seq = $7 AND state = 'open' AND digest IN ('', coalesce($8::bytea, digest))
             RETURNING ${postgresNow} AS at`,
      values: [
        stream,
        seq,
        digestOf(body),
        through,
        since,
        version,
        first - 1,
        before && digestOf(before.body),
      ],
    });
    if (fence.rows.length === 0) return undefined;
    // Not awaited here, so that COMMIT is sent with it.
    return { at: Number(fence.rows[0]!.at), appended: run(append('delta', deltas, stream)) };
  });
  await kept?.appended;
  return kept?.at;
}

/** SHA-256 of the body of a delta, by which PostgreSQL identifies it. */
export function digestOf(body: Uint8Array): Buffer {
  return createHash('sha256').update(body).digest();
}

/**
 * Creates the row of a stream, of which nothing is in the log. It fails if the table has no primary key: a restore creates keys after
 * the rows, so the row may still come.
 */
export async function register(session: PostgresSession, stream: string, directory: string): Promise<void> {
  await session.query({
    name: 'fm-register',
    text: `INSERT INTO fm_stream (stream, directory, seq, digest, through, since, version, state)
           VALUES ($1, $2, 0, '', 0, 0, 0, 'open') ON CONFLICT (stream) DO NOTHING`,
    values: [stream, directory],
  });
}

/** Closes a stream of which everything is shipped. */
export function markDone(stream: string, seq: number): Statement {
  return {
    name: 'fm-done',
    text: `UPDATE fm_stream SET state = 'done' WHERE stream = $1 AND seq = $2 AND state = 'open'`,
    values: [stream, seq],
  };
}

/** Closes the stream of a process that has shipped everything, and deregisters its node. */
export function deregister(
  session: PostgresSession,
  directory: string,
  { stream, sealed }: { readonly stream: string; readonly sealed: number },
): Promise<void> {
  return session.transaction(async (run) => {
    await run(markDone(stream, sealed));
    await run({
      name: 'fm-deregister',
      text: `UPDATE fm_node SET state = 'done', beat_at = clock_timestamp()
             WHERE directory = $1 AND stream = $2 AND state = 'up'`,
      values: [directory, stream],
    });
  });
}
