import { createHash } from 'node:crypto';
import { Refusal } from '../contract/errors.ts';
import { type EntryBodies, type EntryKind, encodeBody, type Horizon, type LoggedMint } from './entry.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { newLogId } from './postgres/follower.ts';
import type { Statement } from './postgres/session.ts';
import { postgresNow } from './postgres/shared-clock.ts';
import type { SealedDelta } from './spool.ts';

interface NewEntry {
  readonly body: Buffer;
  readonly seq?: number;
}

/**
 * Returns a statement that appends entries of one kind. Deltas must belong to one stream, and be in order. The
 * statement fails with a division by zero if the log has no row in `fm_head`, as during a restore of the database.
 */
function append(kind: EntryKind, entries: readonly NewEntry[], stream?: string): Statement {
  const rows = entries.map((_, at) => `($${3 * at + 5}::bigint, $${3 * at + 6}::bigint, $${3 * at + 7}::bytea)`);
  const ids = entries.map(() => newLogId());
  return {
    name: `fm-append-${entries.length}`,
    text: `WITH head AS (
             UPDATE fm_head SET position = position + $1::bigint, id = $2 WHERE log = 'data' RETURNING position
           ), added AS (
             INSERT INTO fm_entry (position, id, at, kind, stream, seq, body)
             SELECT head.position - $1::bigint + row_number() OVER (ORDER BY entry.seq), entry.id, now(), $3, $4, entry.seq, entry.body
             FROM head, (VALUES ${rows.join(', ')}) AS entry (id, seq, body)
           )
           SELECT max(position) AS position, 1 / count(*) AS appended FROM head`,
    values: [
      ...[entries.length, ids.at(-1), kind, stream],
      ...entries.flatMap(({ seq, body }, at) => [ids[at], seq, body]),
    ],
  };
}

/** Maximum number of mints (new instance ids) that wait for their commit. Each of them holds a request open. */
const maxWaiting = 10_000;

/**
 * Appends entries other than deltas. If the result of an append is unknown, the entry is sent again, because a
 * duplicate of such an entry does no harm.
 */
export class LogAppender {
  readonly #session: PostgresSession;
  #waiting: LoggedMint[] = [];
  /** Resolves when the waiting mints are in the log. */
  #next: Promise<number> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: PostgresSession) {
    this.#session = session;
  }

  /** Appends a mint. Mints that wait for the same commit share an entry. @returns the position of the entry */
  mint(mint: LoggedMint): Promise<number> {
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new Refusal('backpressure', 'Too many mints wait for PostgreSQL; try again', 1));
    this.#waiting.push(mint);
    this.#next ??= this.#last.catch(() => {}).then(() => this.#appendWaiting());
    this.#last = this.#next;
    return this.#next;
  }

  #appendWaiting(): Promise<number> {
    const mints = this.#waiting;
    this.#waiting = [];
    this.#next = undefined;
    return this.append('mint', mints);
  }

  /** Appends an entry. @returns its position */
  async append<Kind extends keyof EntryBodies>(kind: Kind, body: EntryBodies[Kind]): Promise<number> {
    const statement = append(kind, [{ body: encodeBody(kind, body) }]);
    const { rows } = await this.#session.query<{ position: bigint }>(statement);
    return Number(rows[0]!.position);
  }

  /**
   * Appends the progress of all open streams, unless a node appended it within the last `everyMs`. The end of the log
   * is locked before the streams are read, so that the log has all their shipped deltas before this entry.
   */
  horizon(everyMs: number): Promise<boolean> {
    return this.#session.transaction(async (run) => {
      const head = await run({
        name: 'fm-horizon-head',
        text: `SELECT 1 FROM fm_head WHERE log = 'data' AND NOT EXISTS (
                 SELECT 1 FROM fm_entry WHERE kind = 'horizon' AND at > now() - $1 * interval '1 ms'
                 AND position > (SELECT position FROM fm_head WHERE log = 'data') - 10000
               ) FOR UPDATE`,
        values: [everyMs],
      });
      if (head.rows.length === 0) return false;
      const { rows } = await run<{ horizon: Horizon }>({
        name: 'fm-horizon-open',
        text: `SELECT json_build_object(
                 'through', coalesce(min(through), 0), 'since', coalesce(min(since), 0), 'now', ${postgresNow},
                 'open', coalesce(json_agg(stream), '[]'), 'nodes', (
                   SELECT coalesce(json_agg(json_build_object('directory', directory, 'name', name, 'state', state,
                     'beat', floor(extract(epoch FROM beat_at) * 1000), 'streams', ARRAY(
                     SELECT stream FROM fm_stream AS own WHERE own.directory = node.directory AND own.state = 'open'
                   )) ORDER BY directory), '[]') FROM fm_node AS node
                 )) AS horizon FROM fm_stream WHERE state = 'open'`,
      });
      await run(append('horizon', [{ body: encodeBody('horizon', rows[0]!.horizon) }]));
      return true;
    });
  }
}

/**
 * Appends consecutive deltas of one stream to the log. The row of the stream is a fence: the append fails unless the
 * row names the delta before the first of these deltas. Each delta is therefore in the log once, even if it is sent
 * several times. Every transaction locks the row of the stream before the end of the log, which prevents deadlocks.
 * @param before the previous delta; `undefined` if the spool has deleted this delta. Deltas are compared by digest,
 * because a copy of the directory can have shipped another delta of this number
 * @returns PostgreSQL's time, Unix ms; `undefined` if the fence rejected the deltas: nothing was appended
 * @throws {PostgresError} `unknown_outcome` if it is unknown whether the deltas are in the log
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
      values: [stream, seq, hashDelta(body), through, since, version, first - 1, before && hashDelta(before.body)],
    });
    if (fence.rows.length === 0) return undefined;
    // The append is not awaited here, so that COMMIT is sent together with it.
    return { at: Number(fence.rows[0]!.at), appended: run(append('delta', deltas, stream)) };
  });
  await kept?.appended;
  return kept?.at;
}

/** Returns the SHA-256 of a delta's body. PostgreSQL stores this digest of the last delta of a stream. */
export function hashDelta(body: Uint8Array): Buffer {
  return createHash('sha256').update(body).digest();
}

/**
 * Creates the row of a stream that has nothing in the log. Fails if the table has no primary key yet, because a restore
 * that creates the key later can still insert this row.
 */
export async function register(session: PostgresSession, stream: string, directory: string): Promise<void> {
  await session.query({
    name: 'fm-register',
    text: `INSERT INTO fm_stream (stream, directory, seq, digest, through, since, version, state)
           VALUES ($1, $2, 0, '', 0, 0, 0, 'open') ON CONFLICT (stream) DO NOTHING`,
    values: [stream, directory],
  });
}

/** Closes a stream whose deltas are all shipped. */
export function closeStream(stream: string, seq: number): Statement {
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
    await run(closeStream(stream, sealed));
    await run({
      name: 'fm-deregister',
      text: `UPDATE fm_node SET state = 'done', beat_at = clock_timestamp()
             WHERE directory = $1 AND stream = $2 AND state = 'up'`,
      values: [directory, stream],
    });
  });
}
