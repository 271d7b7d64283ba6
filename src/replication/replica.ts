import { HotLedger } from '../storage/aggregate/hot-ledger.ts';
import { createHotTables } from '../storage/aggregate/hot-tables.ts';
import { expire, type RetentionStep, rollUpCounts } from '../storage/aggregate/maintain.ts';
import { horizonsAt } from '../storage/lmdb/blocks.ts';
import { CumulativeTotals } from '../storage/lmdb/cumulative.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { ApplyEntry, type Refusal } from './apply-entry.ts';
import { defaultSettings, type Entry, type ReplicaSettings } from './entry.ts';
import { type LogContent, type LogPosition, logStart } from './postgres/follower.ts';
import { ChangedDays, CountedMessages, ErasedNumbers, ForgottenPeople, ReplicaState } from './replica-state.ts';
import { loadNothing, loadSnapshot, ReplicaSnapshot } from './snapshot.ts';
import { StreamSeries } from './stream-series.ts';

/** The result of applying entries. */
interface AppliedEntries {
  /** Number of entries applied and on disk; 0 if the first entry is unfinished and must be passed to the next call. */
  readonly count: number;
  readonly refused: readonly Refusal[];
}

/** Usual duration of a call before its commit, ms. */
const usualStepMs = 5;

/**
 * A usage store with the counts of all nodes, filled by applying the log. The same entries result in the same content
 * on every node, regardless of clocks, restarts, and the grouping of entries. Limits are applied in the order of the
 * log, and all times come from the log. The position is written in the same transaction as the content. The replica is
 * the only writer of its store. Methods other than `load` and `clear` are synchronous, and take a few milliseconds.
 */
export class Replica implements LogContent {
  readonly #store: ReplicaStore;
  readonly #monotonic: () => number;
  readonly #state: ReplicaState;
  readonly #hot;
  readonly #ledger: HotLedger;
  readonly #erased: ErasedNumbers;
  readonly #series: StreamSeries;
  readonly #days: ChangedDays;
  readonly #apply: ApplyEntry;

  /** @param monotonic clock for the duration of calls, without an effect on the content */
  constructor(store: ReplicaStore, monotonic: () => number) {
    this.#store = store;
    this.#monotonic = monotonic;
    this.#state = new ReplicaState(store);
    this.#hot = createHotTables(store);
    this.#ledger = new HotLedger(store);
    this.#erased = new ErasedNumbers(store);
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
      totals: new CumulativeTotals(store.cumulative),
      forgotten: new ForgottenPeople(store, this.#state),
    });
  }

  get applied(): LogPosition {
    return this.#state.get('own:applied') ?? logStart;
  }

  /** The settings in the log; `undefined` if the log has no settings. */
  get settings(): ReplicaSettings | undefined {
    return this.#state.get('settings');
  }

  get unusable(): string | undefined {
    return this.isLoading ? 'it was not loaded to its end' : undefined;
  }

  /** True if a snapshot is being loaded, or if the last load was interrupted. */
  get isLoading(): boolean {
    return this.#state.get('own:loading') ?? false;
  }

  /**
   * Applies entries for a limited time, in one transaction that is on disk when this returns.
   * @param stepMs duration of the work before the commit
   * @throws {Error} if the first entry does not follow the last applied entry, or a snapshot must be loaded first
   * @throws {NewerEntry} if this version cannot apply the first entry
   */
  apply(entries: readonly Entry[], stepMs = usualStepMs): AppliedEntries {
    if (this.isLoading) throw new Error('Cannot apply entries: a snapshot must be loaded first');
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
   * Does a step of upkeep, which changes no report: rolls up counts, and removes counts that were rolled up long ago.
   * @returns number of records touched, 0 if nothing is left to do
   */
  maintain({ environment, now, limit }: RetentionStep): number {
    if (this.isLoading || this.#erased.hasEnvironment(environment)) return 0;
    const { counts } = this.#hot;
    const horizons = horizonsAt(now, this.settings ?? defaultSettings);
    return this.#transact(() => {
      const carried = rollUpCounts(this.#store, counts, environment, Math.floor(now / 60_000) - 1, limit);
      if (carried >= limit) return carried;
      return carried + expire(this.#store, counts, environment, horizons, limit - carried);
    });
  }

  /** Erases some deleted data. @returns number of records touched, 0 if nothing is left */
  erase(limit: number): number {
    return this.isLoading ? 0 : this.#transact(() => this.#erased.step(limit));
  }

  /** Opens a snapshot of the content, which the caller must close. While it is open, commits make the file grow. */
  snapshot(partBytes?: number): ReplicaSnapshot {
    if (this.isLoading) throw new Error('Cannot make a snapshot: a snapshot is being loaded');
    return new ReplicaSnapshot(this.#store, partBytes);
  }

  /**
   * Replaces the content with a snapshot, in small steps. `isLoading` stays true until the load is complete. After a
   * crash, load the snapshot again.
   * @param parts parts of a `ReplicaSnapshot`
   * @throws {SnapshotUnreadable}
   */
  load(parts: AsyncIterable<Uint8Array>): Promise<void> {
    return loadSnapshot(this.#store, this.#state, parts).finally(() => this.#forget());
  }

  /** Empties the content, to apply the log from its first entry. After a crash, call it again. */
  clear(): Promise<void> {
    return loadNothing(this.#store, this.#state).finally(() => this.#forget());
  }

  #transact<T>(action: () => T): T {
    return transact(this.#store.lmdb, action, () => this.#forget());
  }

  #forget(): void {
    this.#store.lmdb.resetReadTxn();
    const { counts, measurements, sketches, seen } = this.#hot;
    for (const table of [counts, measurements, sketches, seen, this.#ledger, this.#state, this.#erased]) {
      table.forget();
    }
    this.#series.forget();
    this.#days.forget();
    this.#apply.forget();
  }
}

function checkOrder(entries: readonly Entry[], applied: number): void {
  for (const [index, { position }] of entries.entries()) {
    if (position === applied + index + 1) continue;
    throw new Error(`Cannot apply entry ${position} of the log: entry ${applied + index + 1} is the next`);
  }
}
