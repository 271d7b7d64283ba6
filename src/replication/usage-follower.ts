import { setImmediate, setTimeout } from 'node:timers/promises';
import { NewerEntry, type Refusal } from './apply-entry.ts';
import type { Entry, StoredEntry } from './entry.ts';
import { newestSnapshot, readSnapshotParts } from './log-upkeep.ts';
import type { NodeDeps } from './node-deps.ts';
import type { PostgresSession } from './postgres/connection.ts';
import { Follower, type LogGap, type LogPosition, type LogRead, logStart } from './postgres/follower.ts';
import { SnapshotUnreadable } from './snapshot.ts';

/** Interval between attempts to read the same unreadable snapshot. A newer snapshot is read immediately. */
const unreadableMs = 60_000;

/** Interval between calls of the `meanwhile` callback. */
const meanwhileMs = 250;

/** A read with at least this many entries counts as a backlog. */
const backlogEntries = 64;
/** Duration of the work before each commit while a backlog is applied, ms. */
const backlogStepMs = 50;

/** Thrown if PostgreSQL has lost entries of the log. The replica is kept, because it can have their last copy. */
class BrokenLog extends Error {
  override readonly name = 'BrokenLog';

  constructor(missing: number) {
    super(
      `Cannot follow the log: PostgreSQL does not have its entry ${missing}, and no snapshot includes it; if this does not change within some minutes, restore the database from a backup`,
    );
  }
}

/** Applies the log of usage to the replica. */
export class UsageFollower extends Follower<StoredEntry> {
  readonly #deps: NodeDeps;
  /** Callback that runs regularly during long work. */
  readonly #meanwhile: () => Promise<void>;
  readonly refused: RefusedRows;
  /** Number of times that the replica was emptied or loaded. */
  rebases = 0;
  /** Error for the next entry, if a later version wrote it. From then on, this node does not apply the log. */
  newer: NewerEntry | undefined;
  /** The last snapshot that was unreadable. */
  #unreadable: { readonly snapshot: string; readonly at: number; readonly error: unknown } | undefined;

  constructor(deps: NodeDeps, meanwhile: () => Promise<void>) {
    super(deps.replica);
    this.#deps = deps;
    this.#meanwhile = meanwhile;
    this.refused = new RefusedRows(deps);
  }

  /**
   * Applies some entries.
   * @returns the kinds applied; empty at the end of the log
   * @throws {PostgresError}
   * @throws {BrokenLog}
   */
  async step(): Promise<ReadonlySet<string>> {
    if (this.newer !== undefined) return new Set();
    try {
      const entries = await this.follow(await this.read());
      return new Set(entries?.map(({ kind }) => kind) ?? ['snapshot']);
    } catch (error) {
      if (!(error instanceof NewerEntry)) throw error;
      this.newer = error;
      this.#deps.log.error('the log cannot be applied', { error });
      return new Set();
    }
  }

  read(): Promise<LogRead<StoredEntry>> {
    return readEntries(this.#deps.link, this.#deps.replica.applied);
  }

  protected async apply(entries: readonly Entry[]): Promise<void> {
    const stepMs = entries.length < backlogEntries ? undefined : backlogStepMs;
    let rest = entries;
    while (rest.length > 0) {
      const { count, refused } = this.#deps.replica.apply(rest, stepMs);
      rest = rest.slice(count);
      await this.refused.add(refused);
      await setImmediate(); // Lets the thread respond to calls.
      await this.#meanwhile();
    }
  }

  /** Loads the newest snapshot. Without a snapshot, starts with the first entry of the log. */
  protected async load({ message: reason, isLost }: LogGap): Promise<void> {
    const { link, replica, log } = this.#deps;
    const from = replica.applied.position;
    const snapshot = await newestSnapshot(link);
    const missing = await firstMissing(link, snapshot?.applied ?? logStart);
    if (missing !== undefined) throw new BrokenLog(missing);
    this.#passOverUnreadable(snapshot?.snapshot);
    if (isLost) await this.#setAside();
    const to = snapshot?.applied.position ?? 0;
    log.warn('reloading the replica', { reason, from, to });
    if (snapshot === undefined) await replica.clear();
    else await this.#loadSnapshot(snapshot.snapshot);
    this.rebases += 1;
    log.info('the replica was loaded', { position: replica.applied.position });
  }

  async #setAside(): Promise<void> {
    const kept = this.#deps.main.setAside().then(() => true);
    kept.catch(() => {}); // Prevents an unhandled rejection if `#meanwhile` fails first.
    while (!(await Promise.race([kept, setTimeout(meanwhileMs, false)]))) await this.#meanwhile();
  }

  async #loadSnapshot(snapshot: string): Promise<void> {
    const { link, replica, clock } = this.#deps;
    try {
      await replica.load(this.#slowly(readSnapshotParts(link, snapshot)));
    } catch (error) {
      if (error instanceof SnapshotUnreadable) this.#unreadable = { snapshot, at: clock.monotonic(), error };
      throw error;
    }
  }

  /**
   * Refuses a snapshot that was unreadable within the last `unreadableMs`, because reading a large snapshot each second
   * would load PostgreSQL and fill the log.
   * @throws {SnapshotUnreadable}
   */
  #passOverUnreadable(snapshot: string | undefined): void {
    if (this.#unreadable === undefined || this.#unreadable.snapshot !== snapshot) return;
    if (this.#deps.clock.monotonic() - this.#unreadable.at < unreadableMs) throw this.#unreadable.error;
  }

  async *#slowly(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      yield part;
      await this.#meanwhile();
    }
  }
}

/** Approximate limit of a read, so that a long log is applied in small steps. */
const maxEntries = 256;
const maxBytes = 2 * 1024 * 1024;

/** Reads the last applied entry and the entries after it. */
export async function readEntries(session: PostgresSession, from: LogPosition): Promise<LogRead<StoredEntry>> {
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
 * Finds the first missing or trimmed entry after a position. Also checks that the entry at the position exists.
 * @returns `undefined` if a replica at that position can follow the log to its end
 */
async function firstMissing(session: PostgresSession, { position, id }: LogPosition): Promise<number | undefined> {
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

/** Maximum number of rows kept for display. It limits the cost of heartbeats, which count these rows. */
const maxKept = 1000;
/** Interval between log messages, because a single delta can have a thousand refused rows. */
const logEveryMs = 60_000;

/** Stores rows that could not be applied, for display. Logs the first row, and then the number of further rows. */
export class RefusedRows {
  readonly #deps: Pick<NodeDeps, 'link' | 'clock' | 'log'>;
  #loggedAt = Number.NEGATIVE_INFINITY;
  /** Number of refused rows since the last log message, and the last of these rows. */
  #rows = 0;
  #last: Refusal | undefined;

  constructor(deps: Pick<NodeDeps, 'link' | 'clock' | 'log'>) {
    this.#deps = deps;
  }

  /** Stores refused rows. All replicas refuse the same rows, so each row is stored once. */
  async add(refused: readonly Refusal[]): Promise<void> {
    if (refused.length === 0) return;
    this.#rows += refused.length;
    this.#last = refused.at(-1);
    this.logDue();
    const column = (name: 'stream' | 'seq' | 'place' | 'reason' | 'row') => refused.map((each) => each[name]);
    await this.#deps.link.query({
      name: 'fm-refused',
      text: `INSERT INTO fm_refused (stream, seq, place, reason, "row", at)
             SELECT DISTINCT new.*, now() FROM unnest($1::text[], $2::int8[], $3::text[], $4::text[], $5::text[])
               AS new (stream, seq, place, reason, "row")
             WHERE NOT EXISTS (SELECT 1 FROM fm_refused AS known WHERE known.stream = new.stream AND known.seq = new.seq
               AND known.place = new.place AND known."row" = new."row")
             LIMIT greatest(0, $6 - (SELECT count(*) FROM fm_refused))`,
      values: [...[column('stream'), column('seq'), column('place'), column('reason'), column('row')], maxKept],
    });
  }

  /** Logs the number of rows since the last message. Call it regularly. */
  logDue(): void {
    const now = this.#deps.clock.monotonic();
    if (this.#last === undefined || now - this.#loggedAt < logEveryMs) return;
    const { stream, seq, place, reason } = this.#last;
    this.#deps.log.warn('rows of deltas were refused', { rows: this.#rows, stream, seq, place, reason });
    this.#loggedAt = now;
    this.#rows = 0;
    this.#last = undefined;
  }
}
