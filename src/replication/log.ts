import { ApiError } from '../contract/errors.ts';
import { type EntryBodies, type EntryKind, encodeBody, type Horizon, type LoggedMint } from './entry.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { newLogId } from './postgres/log-position.ts';
import { postgresNow } from './postgres/shared-clock.ts';
import type { Statement } from './postgres/statement.ts';

interface NewEntry {
  readonly body: Buffer;
  readonly seq?: number;
}

/**
 * Appends entries of one kind; deltas are of one stream, in order. It fails with a division by zero if there is no head: the database
 * may be in the middle of a restore.
 */
export function append(kind: EntryKind, entries: readonly NewEntry[], stream?: string): Statement {
  const rows = entries.map(
    (_, at) => `($${3 * at + 5}::bigint, $${3 * at + 6}::bigint, $${3 * at + 7}::bytea)`,
  );
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

/** Maximum number of waiting mints. Each holds a request. */
const maxWaiting = 10_000;

/**
 * Appends entries other than deltas. A duplicate of such an entry does no harm, so there is no fence, and an entry with an unknown
 * outcome is sent again.
 */
export class LogAppender {
  readonly #session: PostgresSession;
  #waiting: LoggedMint[] = [];
  /** Resolves when the waiting mints are appended. */
  #next: Promise<number> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: PostgresSession) {
    this.#session = session;
  }

  /** Appends a mint. Those that wait for the same commit share an entry. @returns the position of the entry */
  mint(mint: LoggedMint): Promise<number> {
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new ApiError('backpressure', 'Too many mints wait for PostgreSQL; try again', 1));
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

  /** @returns the position of the entry */
  async append<Kind extends keyof EntryBodies>(kind: Kind, body: EntryBodies[Kind]): Promise<number> {
    const statement = append(kind, [{ body: encodeBody(kind, body) }]);
    const { rows } = await this.#session.query<{ position: bigint }>(statement);
    return Number(rows[0]!.position);
  }

  /**
   * Appends the progress of all open streams, unless a node did so within `everyMs`. The head is locked before the streams are read,
   * so that everything they have shipped is in the log before this entry.
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
