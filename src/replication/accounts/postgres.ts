import type {
  AccountStore,
  AccountStoreStatus,
  Plan,
  Throttles,
} from '../../accounts/store/account-store.ts';
import type { Histogram } from '../../runtime/histogram.ts';
import { asPart, currentSpan } from '../../runtime/spans.ts';
import type { AccountTables } from '../../storage/lmdb/accounts.ts';
import { CommitWatch } from '../../storage/lmdb/store-health.ts';
import { Availability } from '../postgres/availability.ts';
import { AccountsFollower, type PostgresAccountStoreDeps } from './accounts-follower.ts';
import { ChangeQueue } from './change-queue.ts';
import { Copy } from './copy.ts';
import { postgresThrottles } from './postgres-throttles.ts';
import { RecordCodec } from './record-codec.ts';
import { SharedRead } from './shared-read.ts';
import { inPostgres } from './waiting-plan.ts';

/** Maximum age of data that is read without querying PostgreSQL, such as application keys. */
const followEveryMs = 1000;

const messages = {
  away: 'PostgreSQL is not available',
  next: 'requests that need it are answered 503 until it does; counting continues',
  back: 'PostgreSQL is available again: accounts can be managed',
};

/**
 * Keeps the accounts in a PostgreSQL database shared by several nodes. Each node reads its own copy, which follows PostgreSQL. Nothing
 * is shown before a synchronous commit has confirmed it.
 */
export class PostgresAccountStore extends Copy implements AccountStore {
  readonly throttles: Throttles;
  readonly #watch: CommitWatch;
  readonly #availability: Availability;
  readonly #follower: AccountsFollower;
  readonly #queue: ChangeQueue;
  readonly #read: SharedRead;
  #polling: NodeJS.Timeout | undefined;

  /** @param store the copy; nothing else may write to it */
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
   * Follows PostgreSQL from now on. Resolves after one attempt, since a node must count soon even without PostgreSQL. The copy is
   * unchanged then.
   */
  async start(): Promise<void> {
    // Failures are logged where they happen, and the next attempt is soon.
    this.#polling = setInterval(() => void this.#read.probe().catch(() => {}), followEveryMs).unref();
    try {
      await this.#follower.follow(await this.#follower.read());
    } catch (error) {
      this.#availability.failed(error as Error);
    }
  }

  change<T>(plan: Plan<T>): Promise<T> {
    return asPart(currentSpan(), 'change accounts', () => this.#queue.add(plan));
  }

  current(): Promise<void> {
    return asPart(currentSpan(), 'read accounts', () => this.#read.wait(), inPostgres);
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
