import { randomUUID } from 'node:crypto';
import { type Delta, emptyContent, encodeDelta } from '../../src/replication/delta.ts';
import { register, ship } from '../../src/replication/log.ts';
import { Connection } from '../../src/replication/postgres/connection.ts';
import { entriesAfter } from '../../src/replication/postgres/follower.ts';
import { parsePostgresUrl } from '../../src/replication/postgres/postgres-url.ts';
import type { Replica } from '../../src/replication/replica.ts';
import type { SealedDelta } from '../../src/replication/spool.ts';
import { readEntries } from '../../src/replication/usage-follower.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Log } from '../../src/runtime/log.ts';

const silent = () => {};
export const silentLog: Log = { debug: silent, info: silent, warn: silent, error: silent };

/** Number of deltas per commit. */
const together = 64;

/** A simulated node that ships deltas with the real code. PostgreSQL sees no difference from a real node. */
export class OtherNode {
  readonly session: Connection;
  readonly #stream = randomUUID();
  #seq = 0;

  constructor(url: string) {
    const options = { name: 'bench', log: silentLog, clock: systemClock, deadlineMs: 60_000 };
    this.session = new Connection(parsePostgresUrl(url), options);
  }

  start(): Promise<void> {
    return register(this.session, this.#stream, this.#stream);
  }

  seal(fields: Partial<Delta>): SealedDelta {
    this.#seq += 1;
    const head = { stream: this.#stream, seq: this.#seq, since: 0, version: 1, through: Date.now() };
    return { ...head, body: encodeDelta({ ...emptyContent(), ...head, ...fields }) };
  }

  /** Ships deltas. @param each number of deltas per commit */
  async ship(deltas: readonly SealedDelta[], each = together): Promise<void> {
    for (let from = 0; from < deltas.length; from += each)
      await ship(this.session, this.#stream, deltas.slice(from, from + each), undefined);
  }

  /** Closes the stream of the node, so that reports do not wait for its deltas. */
  async end(): Promise<void> {
    await this.session.query({ text: `UPDATE fm_stream SET state = 'done' WHERE stream = $1`, values: [this.#stream] });
    await this.session.close();
  }
}

/** Applies the whole log to a replica. */
export async function follow(session: Connection, replica: Replica): Promise<void> {
  for (;;) {
    const next = entriesAfter(await readEntries(session, replica.applied));
    if (next.length === 0) return;
    for (let rest = next; rest.length > 0; ) rest = rest.slice(replica.apply(rest).count);
  }
}
