import { type Clock, systemClock } from '../clock.ts';
import { ApiError, storeUnavailable } from '../errors.ts';
import type { Histogram } from '../histogram.ts';
import { asPart, currentSpan } from '../spans.ts';
import type { AccountStore } from '../store/accounts.ts';
import { CommitWatch, type SlowCommits } from '../store/commit-watch.ts';
import type { StoreHealth } from '../store/store-health.ts';
import { Committed } from './committed.ts';
import type { Engine, EngineStatus, Plan, Write } from './engine.ts';
import { Group } from './group.ts';
import { Layer } from './layer.ts';
import { PlannedThrottles } from './planned-throttles.ts';
import { write } from './write.ts';

type Health = Pick<StoreHealth, 'ready' | 'failed'>;

/** Changes that wait for one commit. Each holds a request, so they are bounded like those. */
const maxWaiting = 10_000;

/**
 * Keeps the accounts in the LMDB of the data directory. While one commit is on its way the next group of changes gathers
 * (group commit): the disk sets the size of the groups, no timer does.
 */
export class EmbeddedEngine extends Committed implements Engine {
  readonly version = 0;
  readonly throttles = new PlannedThrottles(this);
  readonly #store: AccountStore;
  readonly #health: Health;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #watch: CommitWatch;
  readonly #listeners: ((writes: readonly Write[]) => void)[] = [];
  #onItsWay: Group | undefined;
  #gathering: Group;
  #draining: Promise<void> | undefined;
  #isClosed = false;

  /**
   * Reads what is kept in memory. No other engine may write to the store meanwhile.
   * @param health is told of commits that fail; while it is not ready, changes are refused
   */
  constructor(
    store: AccountStore,
    health: Health,
    clock: Pick<Clock, 'monotonic'> = systemClock,
    slow?: SlowCommits,
  ) {
    super(store);
    this.#store = store;
    this.#health = health;
    this.#clock = clock;
    this.#watch = new CommitWatch('accounts', slow);
    this.#gathering = new Group(this);
  }

  /** This process is the only one that writes. */
  current(): undefined {
    return undefined;
  }

  status(): EngineStatus {
    return { kind: 'embedded', trouble: undefined, version: this.version };
  }

  get commitTimes(): Histogram {
    return this.#watch.times;
  }

  onCommit(listener: (writes: readonly Write[]) => void): void {
    this.#listeners.push(listener);
  }

  async change<T>(plan: Plan<T>): Promise<T> {
    const group = this.#gathering;
    if (group.waiting >= maxWaiting)
      throw new ApiError('backpressure', 'Too many changes wait for the disk; try again', 1);
    const draft = new Layer(group.layer);
    let outcome: () => T;
    try {
      const result = plan(draft);
      if (!draft.isEmpty) this.#add(draft);
      outcome = () => result;
    } catch (error) {
      outcome = () => {
        throw error;
      };
    }
    // A plan without writes waits, too: what it has read, or was refused for, may not be on disk yet.
    const settled = this.#settled();
    if (settled !== undefined) await asPart(currentSpan(), 'wait for commit of accounts', () => settled);
    return outcome();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#draining;
  }

  /** @throws {ApiError} `store_unavailable` */
  #add(draft: Layer): void {
    if (this.#isClosed || !this.#health.ready) throw unavailable();
    this.#gathering.layer.take(draft);
    this.#draining ??= this.#drain();
  }

  /** Resolves when everything that plans have drafted until now is on disk. */
  #settled(): Promise<void> | undefined {
    return this.#gathering.layer.isEmpty ? this.#onItsWay?.wait() : this.#gathering.wait();
  }

  async #drain(): Promise<void> {
    while (!this.#gathering.layer.isEmpty) {
      const group = this.#gathering;
      this.#onItsWay = group;
      this.#gathering = new Group(group.layer);
      const { writes } = group.layer;
      const began = this.#clock.monotonic();
      try {
        await write(this.#store, writes);
        this.#watch.took(this.#clock.monotonic() - began, { writes: writes.length });
      } catch (error) {
        this.#refuse(group, error);
        continue;
      }
      this.#keep(group, writes);
    }
    this.#draining = undefined;
  }

  #keep(group: Group, writes: readonly Write[]): void {
    this.update(writes);
    this.#gathering.layer.putOn(this);
    this.#onItsWay = undefined;
    for (const listener of this.#listeners) listener(writes);
    group.kept();
  }

  /** What has gathered since was built on what failed. */
  #refuse(group: Group, error: unknown): void {
    const gathered = this.#gathering;
    this.#onItsWay = undefined;
    this.#gathering = new Group(this);
    this.refresh();
    this.#health.failed(error);
    for (const each of [group, gathered]) each.refused(unavailable());
  }
}

function unavailable(): ApiError {
  return new ApiError('store_unavailable', storeUnavailable.changeNotKept, 5);
}
