import { ApiError } from '../errors.ts';
import type { EngineSession } from '../postgres/connection.ts';
import { newLogId } from '../postgres/log-id.ts';
import { engineNow } from '../postgres/shared-clock.ts';
import type { EntryKind } from './entry.ts';
import { encodeHorizon, encodeMints, type Horizon, type LoggedMint, type LoggedNode } from './log-bodies.ts';

interface OpenRow {
  readonly through: bigint;
  readonly since: bigint;
  readonly now: bigint;
  readonly open: string[];
  readonly nodes: readonly LoggedNode[];
}

function horizonOf({ through, since, now, open, nodes }: OpenRow): Horizon {
  return { through: Number(through), since: Number(since), now: Number(now), open, nodes };
}

interface WaitingMint {
  readonly mint: LoggedMint;
  readonly done: (position: number) => void;
  readonly refused: (error: unknown) => void;
}

/** Mints that wait. Each holds a request, so they are bounded like those. */
const maxWaiting = 10_000;

/**
 * Appends to the log what is no delta. Each of these entries may be there twice without harm, so no fence is needed: who
 * does not know what became of one sends it again.
 */
export class LogAppender {
  readonly #session: EngineSession;
  #waiting: WaitingMint[] = [];
  #draining = false;

  constructor(session: EngineSession) {
    this.#session = session;
  }

  /**
   * Mints that wait while a commit is on its way share the next one.
   * @returns the position of the entry
   */
  mint(mint: LoggedMint): Promise<number> {
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new ApiError('backpressure', 'Too many mints wait for the engine; try again', 1));
    return new Promise((done, refused) => {
      this.#waiting.push({ mint, done, refused });
      if (!this.#draining) void this.#drain();
    });
  }

  /** @returns the position of the entry */
  async append(kind: EntryKind, body: Buffer): Promise<number> {
    const { rows } = await this.#session.query<{ position: bigint }>({
      name: 'fm-append',
      text: `WITH head AS (
               UPDATE fm_head SET position = position + 1, id = $1 WHERE log = 'data' RETURNING position
             )
             INSERT INTO fm_entry (position, id, at, kind, body)
             SELECT position, $1, now(), $2, $3 FROM head RETURNING position`,
      values: [newLogId(), kind, body],
    });
    return Number(rows[0]!.position);
  }

  /**
   * Says up to where all open streams have come, unless some node has said so lately. The head is locked before the streams
   * are read: what they have shipped by then is in the log before this entry.
   */
  horizon(everyMs: number): Promise<boolean> {
    return this.#session.transaction(async (run) => {
      const head = await run({
        name: 'fm-horizon-head',
        text: `UPDATE fm_head SET position = position + 1, id = $1 WHERE log = 'data' AND NOT EXISTS (
                 SELECT 1 FROM fm_entry WHERE kind = 'horizon' AND at > now() - $2 * interval '1 ms'
                 AND position > (SELECT position FROM fm_head WHERE log = 'data') - 10000
               ) RETURNING position`,
        values: [newLogId(), everyMs],
      });
      if (head.rows.length === 0) return false;
      const open = await run<OpenRow>({
        name: 'fm-horizon-open',
        text: `SELECT coalesce(min(through), 0) AS through, coalesce(min(since), 0) AS since,
                 coalesce(array_agg(stream), '{}') AS open, (
                   SELECT coalesce(json_agg(json_build_object('directory', directory, 'name', name, 'state', state, 'streams', ARRAY(
                     SELECT stream FROM fm_stream AS own WHERE own.directory = node.directory AND own.state = 'open'
                   )) ORDER BY directory), '[]') FROM fm_node AS node
                 ) AS nodes,
                 ${engineNow} AS now FROM fm_stream WHERE state = 'open'`,
      });
      const body = encodeHorizon(horizonOf(open.rows[0]!));
      await run({
        name: 'fm-horizon-entry',
        text: `INSERT INTO fm_entry (position, id, at, kind, body)
               SELECT position, id, now(), 'horizon', $1 FROM fm_head WHERE log = 'data'`,
        values: [body],
      });
      return true;
    });
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        const position = await this.append('mint', encodeMints(group.map(({ mint }) => mint)));
        for (const { done } of group) done(position);
      } catch (error) {
        for (const { refused } of group) refused(error);
      }
    }
    this.#draining = false;
  }
}
