import { HotLedger } from '../storage/aggregate/hot-ledger.ts';
import { createHotTables } from '../storage/aggregate/hot-tables.ts';
import type { RetentionStep } from '../storage/aggregate/maintain.ts';
import { carry, expire } from '../storage/aggregate/roll-up.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import type { ReplicaStore } from '../storage/lmdb/replica-store.ts';
import { horizonsAt } from '../storage/lmdb/retention.ts';
import { ApplyEntry, type Refusal } from './apply-entry.ts';
import { ChangedDays } from './changed-days.ts';
import { CountedMessages } from './counted-messages.ts';
import type { Entry } from './entry.ts';
import { Erased, ForgottenPeople } from './erased.ts';
import { loadNothing, loadSnapshot } from './load-snapshot.ts';
import type { LogContent } from './postgres/follower.ts';
import { type LogPosition, logStart } from './postgres/log-position.ts';
import { ReplicaState } from './replica-state.ts';
import { defaultSettings, type ReplicaSettings } from './settings.ts';
import { ReplicaSnapshot } from './snapshot.ts';
import { StreamSeries } from './stream-series.ts';

/** What became of some entries. */
export interface AppliedEntries {
  /** The first so many are applied, and on disk. 0 when the first takes more than one call: then call again with the same. */
  readonly count: number;
  /** Rows of them that could not be applied. */
  readonly refused: readonly Refusal[];
}

/** How long a call works before it commits, unless it is told another time, ms. */
const usualStepMs = 5;

/**
 * What the log says, in a usage store: the counts of all nodes. The same entries make the same content on each node, whatever
 * its clock, its restarts, and how the entries were grouped: each limit is met in the order of the log, and each time that
 * decides anything comes from the log. How far it is, is in the same transaction as what it has applied.
 *
 * It is the only writer of its store. Everything but `load` is synchronous, and takes a few milliseconds.
 */
export class Replica implements LogContent {
  readonly #store: ReplicaStore;
  readonly #monotonic: () => number;
  readonly #state: ReplicaState;
  readonly #hot;
  readonly #ledger: HotLedger;
  readonly #erased: Erased;
  readonly #series: StreamSeries;
  readonly #days: ChangedDays;
  readonly #apply: ApplyEntry;

  /** @param monotonic see `Clock`: it only decides how much one call does */
  constructor(store: ReplicaStore, monotonic: () => number) {
    this.#store = store;
    this.#monotonic = monotonic;
    this.#state = new ReplicaState(store);
    this.#hot = createHotTables(store);
    this.#ledger = new HotLedger(store);
    this.#erased = new Erased(store);
    this.#series = new StreamSeries(store, this.#state, this.#erased);
    this.#days = new ChangedDays(store, this.#state);
    this.#apply = new ApplyEntry({
      store,
      state: this.#state,
      hot: this.#hot,
      ledger: this.#ledger,
      erased: this.#erased,
      series: this.#series,
      days: this.#days,
      messages: new CountedMessages(store),
      forgotten: new ForgottenPeople(store, this.#state),
    });
  }

  get applied(): LogPosition {
    return this.#state.get('own:applied') ?? logStart;
  }

  /** The settings that the log says; `undefined` when it says none. */
  get settings(): ReplicaSettings | undefined {
    return this.#state.get('settings');
  }

  get unusable(): string | undefined {
    return this.isLoading ? 'it was not loaded to its end' : undefined;
  }

  /** Whether a snapshot is being loaded, or the loading of one was interrupted: then reports would be wrong. */
  get isLoading(): boolean {
    return this.#state.get('own:loading') ?? false;
  }

  /**
   * Applies the first of some entries, as many as there is time for, in one transaction that is on disk when this returns.
   * @param stepMs how long to work before the commit
   * @throws {Error} when the first is not the one after the last applied; or a snapshot has to be loaded first
   * @throws {NewerEntry} when this program does not know an entry; none is applied, when it is the first
   */
  apply(entries: readonly Entry[], stepMs = usualStepMs): AppliedEntries {
    if (this.isLoading) throw new Error('Cannot apply entries: a snapshot has to be loaded first');
    checkOrder(entries, this.applied.position);
    if (entries.length === 0) return { count: 0, refused: [] };
    const until = this.#monotonic() + stepMs;
    const isLate = () => this.#monotonic() >= until;
    const refused: Refusal[] = [];
    const refuse = (refusal: Refusal) => void refused.push(refusal);
    let count = 0;
    this.#transact(() => {
      const before = this.applied.position;
      for (const entry of entries) {
        if (count > 0 && isLate()) break;
        if (count > 0 && !this.#apply.knows(entry)) break;
        if (!this.#apply.run(entry, refuse, isLate)) break;
        this.#state.set('own:applied', { position: entry.position, id: entry.id });
        count += 1;
      }
      this.#apply.put();
      this.#days.put({ before, after: this.applied.position });
    });
    return { count, refused };
  }

  /**
   * Does a step of upkeep that changes no figure: counts are carried to wider cells, and narrow ones that are over their time go.
   * @returns records touched: 0 when nothing is left to do
   */
  maintain({ environment, now, limit }: RetentionStep): number {
    if (this.isLoading || this.#erased.hasEnvironment(environment)) return 0;
    const { counts } = this.#hot;
    const horizons = horizonsAt(now, this.settings ?? defaultSettings);
    return this.#transact(() => {
      const carried = carry(this.#store, counts, environment, Math.floor(now / 60_000) - 1, limit);
      if (carried >= limit) return carried;
      return carried + expire(this.#store, counts, environment, horizons, limit - carried);
    });
  }

  /** Erases some of what the log says is deleted. @returns records touched: 0 when nothing is left */
  erase(limit: number): number {
    return this.isLoading ? 0 : this.#transact(() => this.#erased.step(limit));
  }

  /**
   * The content as it is now, for nodes that join; to be closed. While it is open, commits make the file grow.
   * @param partBytes bytes of rows in a part, if they are to be others than usual
   */
  snapshot(partBytes?: number): ReplicaSnapshot {
    if (this.isLoading) throw new Error('Cannot make a snapshot: one is being loaded');
    return new ReplicaSnapshot(this.#store, partBytes);
  }

  /**
   * Replaces the content by a snapshot's, in small steps. Until it is whole, `isLoading` is true, also after a crash: then this
   * is to be called again.
   * @param parts what a `ReplicaSnapshot` gave
   * @throws {SnapshotUnreadable} when they are not a whole snapshot that this program can read
   */
  load(parts: AsyncIterable<Uint8Array>): Promise<void> {
    return loadSnapshot(this.#store, this.#state, parts).finally(() => this.#forget());
  }

  /** Empties the content: what follows is the log from its first entry on. After a crash it is to be called again. */
  clear(): Promise<void> {
    return loadNothing(this.#store, this.#state).finally(() => this.#forget());
  }

  #transact<T>(action: () => T): T {
    return transact(this.#store.lmdb, action, () => this.#forget());
  }

  #forget(): void {
    this.#store.lmdb.resetReadTxn();
    const { counts, measurements, sketches, seen } = this.#hot;
    for (const part of [counts, measurements, sketches, seen, this.#ledger, this.#state, this.#erased]) {
      part.forget();
    }
    this.#series.forget();
    this.#days.forget();
    this.#apply.forget();
  }
}

function checkOrder(entries: readonly Entry[], applied: number): void {
  for (const [index, { position }] of entries.entries()) {
    if (position === applied + index + 1) continue;
    throw new Error(`Cannot apply entry ${position} of the log: ${applied + index + 1} is the next`);
  }
}
