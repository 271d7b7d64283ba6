import { minuteOf, minutesPerDay, seriesPerEnvironment } from '../storage/lmdb/blocks.ts';
import { readAt, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import type { ReplicaState } from './replica-state.ts';

/**
 * The position of the last entry that changed a day of an environment. A late entry makes the export write its days again.
 *
 * Table `replica`: key: `day:`, the number of the environment, `:`, the day since the epoch; value: the position. A version that
 * does not know these rows keeps them. Therefore `daysMarked` states up to which position they are right, and `daysUnmarked` up to
 * which some are missing.
 */
export class ChangedDays {
  readonly #store: Pick<ReplicaStore, 'replica'>;
  readonly #state: ReplicaState;
  readonly #changed = new Map<number, number>();
  #position = 0;
  #last = -1;

  constructor(store: Pick<ReplicaStore, 'replica'>, state: ReplicaState) {
    this.#store = store;
    this.#state = state;
  }

  /** Sets the position of the entry applied next. */
  turnTo(position: number): void {
    this.#position = position;
    this.#last = -1;
  }

  /** Notes a bucket. Called for each cell, while a delta has many cells of few days. */
  add(ref: number, bucket: number): void {
    this.addDay(ref, Math.floor(minuteOf(bucket) / minutesPerDay));
  }

  addDay(ref: number, day: number): void {
    const place = Math.floor(ref / seriesPerEnvironment) * daysPerEnvironment + day;
    if (place === this.#last) return;
    this.#last = place;
    this.#changed.set(place, this.#position);
  }

  /** Writes the days in memory, in the transaction that applies the entries. @param applied positions before and after them */
  put(applied: { readonly before: number; readonly after: number }): void {
    if ((this.#state.get('daysMarked') ?? 0) !== applied.before)
      this.#state.set('daysUnmarked', applied.before);
    this.#state.set('daysMarked', applied.after);
    this.#putDays();
  }

  /** Removes the days of an environment before a day. Call it in a transaction. */
  remove(environment: number, before = Number.POSITIVE_INFINITY): void {
    this.#putDays();
    const prefix = `${daysPrefix}${environment}`;
    const range = { start: Buffer.from(`${prefix}:`), end: Buffer.from(`${prefix};`) };
    const keys = Array.from(this.#store.replica.getKeys(range), (key) => Buffer.from(key));
    for (const key of keys) if (placeIn(key).day < before) this.#store.replica.removeSync(key);
  }

  forget(): void {
    this.#changed.clear();
    this.#last = -1;
  }

  #putDays(): void {
    for (const [place, position] of this.#changed) {
      const environment = Math.floor(place / daysPerEnvironment);
      const day = place % daysPerEnvironment;
      const key = Buffer.from(`${daysPrefix}${environment}:${day}`);
      this.#store.replica.putSync(key, Buffer.from(String(position)));
    }
    this.forget();
  }
}

export interface ChangedDay {
  readonly environment: number;
  /** Since the epoch. */
  readonly day: number;
  readonly position: number;
}

/** All days in a snapshot. */
export function* changedDays(store: Pick<ReplicaStore, 'replica'>, at: Snapshot): Generator<ChangedDay> {
  const range = { start: Buffer.from(daysPrefix), end: Buffer.from('day;') };
  for (const { key, value } of store.replica.getRange({ ...range, ...readAt(at) }))
    yield { ...placeIn(key), position: Number(value.toString()) };
}

/** More than the days until the year 2300. */
const daysPerEnvironment = 2 ** 17;
const daysPrefix = 'day:';

function placeIn(key: Buffer): { readonly environment: number; readonly day: number } {
  const [, environment, day] = key.toString().split(':');
  return { environment: Number(environment), day: Number(day) };
}
