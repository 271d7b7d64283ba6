import type {
  AccountStore,
  AccountStoreStatus,
  Change,
  ListedThrottle,
  Throttles,
} from '../../accounts/store/account-store.ts';
import { postgresAway } from '../../contract/errors.ts';
import type { Histogram } from '../../runtime/histogram.ts';
import { currentSpan, inChildSpan } from '../../runtime/spans.ts';
import type { AccountTables } from '../../storage/lmdb/accounts.ts';
import type { LoginFailures } from '../../storage/lmdb/auth-records.ts';
import { CommitWatch } from '../../storage/lmdb/store-health.ts';
import { Availability } from '../postgres/availability.ts';
import type { PostgresSession } from '../postgres/connection.ts';
import { PostgresError } from '../postgres/postgres-error.ts';
import type { QueryResult, Statement } from '../postgres/session.ts';
import { AccountsFollower, type PostgresAccountStoreDeps, SharedRead } from './accounts-follower.ts';
import { ChangeQueue, inPostgres } from './change-queue.ts';
import { Copy } from './copy.ts';
import { RecordCodec } from './record-codec.ts';

/** Interval between reads of PostgreSQL's changes, for data that requests read only from the copy, such as keys. */
const followEveryMs = 1000;

const messages = {
  away: 'PostgreSQL is not available',
  next: 'requests that need PostgreSQL get the status 503 until then; counting continues',
  back: 'PostgreSQL is available again: accounts can be managed',
};

/**
 * Keeps the accounts in a PostgreSQL database shared by several nodes. Each node reads its own copy, which follows
 * PostgreSQL. A change is shown only after a synchronous commit has confirmed it.
 */
export class PostgresAccountStore extends Copy implements AccountStore {
  readonly throttles: Throttles;
  readonly #watch: CommitWatch;
  readonly #availability: Availability;
  readonly #follower: AccountsFollower;
  readonly #queue: ChangeQueue;
  readonly #read: SharedRead;
  #polling: NodeJS.Timeout | undefined;

  /** @param store the copy; only this class may write to it */
  constructor(store: AccountTables, deps: PostgresAccountStoreDeps) {
    super(store, deps.health);
    const availability = new Availability(deps.clock, deps.log, messages);
    const shared = { ...deps, copy: this, codec: new RecordCodec(deps.key), availability };
    this.throttles = postgresThrottles(deps.signIns);
    this.#availability = availability;
    this.#follower = new AccountsFollower(shared);
    this.#watch = new CommitWatch('accounts', deps.slow);
    this.#queue = new ChangeQueue(shared, this.#follower, this.#watch);
    this.#read = new SharedRead(shared, this.#follower, () => this.#queue.repaired());
  }

  get commitTimes(): Histogram {
    return this.#watch.times;
  }

  get version(): number {
    return this.applied.position;
  }

  /**
   * Follows PostgreSQL from now on. Resolves after one attempt to read, even if PostgreSQL is unavailable, so that the
   * node soon starts to count.
   */
  async start(): Promise<void> {
    // A failure is already logged, and the next read follows soon.
    this.#polling = setInterval(() => void this.#read.probe().catch(() => {}), followEveryMs).unref();
    try {
      await this.#follower.follow(await this.#follower.read());
    } catch (error) {
      this.#availability.failed(error as Error);
    }
  }

  change<T>(change: Change<T>): Promise<T> {
    return inChildSpan(currentSpan(), 'change accounts', () => this.#queue.add(change));
  }

  current(): Promise<void> {
    return inChildSpan(currentSpan(), 'read accounts', () => this.#read.wait(), inPostgres);
  }

  status(): AccountStoreStatus {
    const { trouble, publicReason } = this.#availability;
    return { kind: 'postgres', trouble, publicReason, version: this.version };
  }

  async close(): Promise<void> {
    clearInterval(this.#polling);
    await this.#queue.close();
    this.#read.close();
  }
}

/** Counts failed sign-ins of several nodes in a PostgreSQL table. */
function postgresThrottles(connection: PostgresSession): Throttles {
  return {
    change: (keys, decide) =>
      orPostgresAway(
        connection.transaction(async (run) => {
          const found = listed(await run(lockRows([...keys].sort())));
          // Rows without a time are ignored, because they were created only to be locked.
          const made = found.filter(({ failures }) => failures.lastAt > 0);
          const kept = new Map(made.map(({ key, failures }) => [key, failures]));
          const result = decide({
            get: (key) => kept.get(key),
            put: (key, failures) => void kept.set(key, failures),
            remove: (key) => void kept.delete(key),
          });
          void run(keepRows(keys, kept));
          return result;
        }),
      ),
    list: async (after, limit) => listed(await orPostgresAway(connection.query(listRows(after, limit)))),
  };
}

/** @throws {Refusal} `postgres_unavailable` */
async function orPostgresAway<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw error instanceof PostgresError ? postgresAway() : error;
  }
}

/** Locks rows, and first creates missing rows. All nodes lock in the same order, which prevents deadlocks. */
function lockRows(keys: string[]): Statement {
  return {
    name: 'fm_throttle_lock',
    text: `INSERT INTO fm_throttle (key) SELECT k FROM unnest($1::text[]) AS k
ON CONFLICT (key) DO UPDATE SET failures = fm_throttle.failures RETURNING key, failures, last_at`,
    values: [keys],
  };
}

function keepRows(keys: readonly string[], kept: ReadonlyMap<string, LoginFailures>): Statement {
  const rows = [...kept.values()];
  return {
    name: 'fm_throttle_keep',
    text: `WITH gone AS (DELETE FROM fm_throttle WHERE key = ANY($1::text[]) AND key <> ALL($2::text[]))
UPDATE fm_throttle t SET failures = w.failures, last_at = w.last_at
FROM unnest($2::text[], $3::int[], $4::int8[]) AS w(key, failures, last_at)
WHERE t.key = w.key AND (t.failures, t.last_at) <> (w.failures, w.last_at)`,
    values: [...[keys, [...kept.keys()]], ...[rows.map(({ failures }) => failures), rows.map(({ lastAt }) => lastAt)]],
  };
}

function listRows(after: string, limit: number): Statement {
  const text = 'SELECT key, failures, last_at FROM fm_throttle WHERE key > $1 ORDER BY key LIMIT $2';
  return { name: 'fm_throttle_list', text, values: [after, limit] };
}

function listed({ rows }: QueryResult): readonly ListedThrottle[] {
  return rows.map(({ key, failures, last_at }) => ({
    key: String(key),
    failures: { failures: Number(failures), lastAt: Number(last_at) },
  }));
}
