import { Refusal } from '../../contract/errors.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { Histogram } from '../../runtime/histogram.ts';
import { currentSpan, inChildSpan } from '../../runtime/spans.ts';
import type { AccountTables } from '../../storage/lmdb/accounts.ts';
import { CommitWatch, type SlowCommits, type StoreHealth } from '../../storage/lmdb/store-health.ts';
import type { AccountStore, AccountStoreStatus, Change, ListedThrottle, Reader, Throttles } from './account-store.ts';
import { CommittedRecords, storeAway } from './committed.ts';
import { Layer } from './layer.ts';

/** Maximum number of changes waiting for a commit. Further changes are refused with `backpressure`. */
const maxWaiting = 10_000;

/** Changes that share a commit. */
class Group {
  readonly layer: Layer;
  waiting = 0;
  /** Resolves when all writes of the group are on disk; rejects with the reason of the failure. */
  readonly settled: Promise<void>;
  keep: () => void = () => {};
  refuse: (error: Error) => void = () => {};

  /** @param below reader whose records the first change of the group sees */
  constructor(below: Reader) {
    this.layer = new Layer(below);
    this.settled = new Promise((resolve, reject) => {
      this.keep = resolve;
      this.refuse = reject;
    });
    this.settled.catch(() => {}); // The rejection may have no listener.
  }
}

/**
 * Keeps the accounts in the data directory's LMDB. While a commit is in progress, new changes are collected for the
 * next commit (group commit). A slower disk therefore has larger groups.
 */
export class EmbeddedAccountStore extends CommittedRecords implements AccountStore {
  readonly version = 0;
  readonly throttles = throttlesIn(this);
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #watch: CommitWatch;
  #onItsWay: Group | undefined;
  #gathering: Group;
  #draining: Promise<void> | undefined;
  #isClosed = false;

  /** Loads the tables held in memory. Nothing else may write to them during the load. */
  constructor(
    store: AccountTables,
    health: Pick<StoreHealth, 'ready' | 'failed'>,
    clock: Pick<Clock, 'monotonic'> = systemClock,
    slow?: SlowCommits,
  ) {
    super(store, health);
    this.#clock = clock;
    this.#watch = new CommitWatch('accounts', slow);
    this.#gathering = new Group(this);
  }

  /** The store is always current, because this process is the only writer. */
  current(): undefined {
    return undefined;
  }

  status(): AccountStoreStatus {
    return { kind: 'embedded', trouble: undefined, version: this.version };
  }

  get commitTimes(): Histogram {
    return this.#watch.times;
  }

  async change<T>(change: Change<T>): Promise<T> {
    const group = this.#gathering;
    if (group.waiting >= maxWaiting)
      throw new Refusal('backpressure', 'Too many changes are waiting for the disk; retry', 1);
    const tx = new Layer(group.layer);
    let getResult: () => T;
    try {
      const result = change(tx);
      if (!tx.isEmpty) this.#add(tx);
      getResult = () => result;
    } catch (error) {
      getResult = () => {
        throw error;
      };
    }
    // A change without writes also waits, because the records that it has read might not be on disk.
    const settled = this.#settled();
    if (settled !== undefined) await inChildSpan(currentSpan(), 'wait for commit of accounts', () => settled);
    return getResult();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#draining;
  }

  /** @throws {Refusal} `store_unavailable` */
  #add(tx: Layer): void {
    if (this.#isClosed || !this.canKeep) throw storeAway();
    this.#gathering.layer.write(tx.writes);
    this.#draining ??= this.#drain();
  }

  /** Resolves when all pending writes are on disk. */
  #settled(): Promise<void> | undefined {
    const group = this.#gathering.layer.isEmpty ? this.#onItsWay : this.#gathering;
    if (group !== undefined) group.waiting += 1;
    return group?.settled;
  }

  async #drain(): Promise<void> {
    while (!this.#gathering.layer.isEmpty) {
      const group = this.#gathering;
      this.#onItsWay = group;
      this.#gathering = new Group(group.layer);
      try {
        await this.#commitGroup(group);
        group.keep();
      } catch (error) {
        // Later changes have seen the failed writes, so they fail, too.
        for (const each of [group, this.#gathering]) each.refuse(error as Error);
        this.#onItsWay = undefined;
        this.#gathering = new Group(this);
      }
    }
    this.#draining = undefined;
  }

  #commitGroup({ layer: { writes } }: Group): Promise<void> {
    const began = this.#clock.monotonic();
    return this.commit(writes, undefined, () => {
      this.#watch.took(this.#clock.monotonic() - began, { writes: writes.length });
      this.#gathering.layer.putOn(this);
      this.#onItsWay = undefined;
    });
  }
}

/** Counts failed sign-ins in the account store, as changes of the accounts. */
function throttlesIn(accountStore: AccountStore): Throttles {
  const table = 'loginThrottles';
  return {
    change: (_keys, decide) =>
      accountStore.change((tx) =>
        decide({
          get: (key) => tx.get(table, key),
          put: (key, failures) => tx.put(table, key, failures),
          remove: (key) => tx.remove(table, key),
        }),
      ),
    async list(after, limit) {
      const found: ListedThrottle[] = [];
      for (const key of accountStore.keys(table, { start: `${after}!`, end: '~' })) {
        found.push({ key, failures: accountStore.get(table, key)! });
        if (found.length === limit) break;
      }
      return found;
    },
  };
}
