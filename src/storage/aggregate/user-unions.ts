import { daysOver, readCarried } from '../lmdb/carried.ts';
import type { Reading } from '../lmdb/snapshot.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { HyperLogLog } from './hyperloglog.ts';
import { type Days, readSketches } from './read-sketches.ts';

/** Approximate maximum bytes of unions in memory: those of 500 series with many users each. */
const maxBytes = 16 * 2 ** 20;

/** Approximate overhead of a union besides its chunks, in bytes. */
const unionBytes = 600;

/**
 * Computes unions of series' sketches over days. Unions of past days are cached, since pages request the same ones repeatedly.
 * Adding a user to such a day, or the end of the next day, invalidates them by changing their key.
 */
export class UserUnions {
  readonly #store: UsageStore;
  /** The most recently used is last. */
  readonly #kept = new Map<string, HyperLogLog>();
  #bytes = 0;

  constructor(store: UsageStore) {
    this.#store = store;
  }

  /** @returns unions by ordinal. They may be cached: do not add to them. */
  *of(
    environment: number,
    days: Days,
    ordinals: readonly number[],
  ): Reading<ReadonlyMap<number, HyperLogLog>> {
    const store = this.#store;
    store.lmdb.resetReadTxn(); // The next read includes everything committed so far.
    const carried = readCarried(store.carried, environment);
    const end = Math.max(days.from, Math.min(days.to, daysOver(carried)));
    const key = `${environment} ${days.from} ${end} ${carried.lateUsers}`;
    const known = yield* this.#whole(key, environment, { from: days.from, to: end }, ordinals);
    const open = emptyOnes(ordinals);
    yield* readSketches(store, environment, { from: end, to: days.to }, open);
    return new Map(ordinals.map((ordinal) => [ordinal, unite([known.get(ordinal)!, open.get(ordinal)!])]));
  }

  *#whole(
    key: string,
    environment: number,
    days: Days,
    ordinals: readonly number[],
  ): Reading<ReadonlyMap<number, HyperLogLog>> {
    const known = new Map(ordinals.map((ordinal) => [ordinal, this.#take(`${key} ${ordinal}`)]));
    const missing = emptyOnes(ordinals.filter((ordinal) => known.get(ordinal) === undefined));
    yield* readSketches(this.#store, environment, days, missing);
    for (const [ordinal, union] of missing) this.#keep(`${key} ${ordinal}`, union);
    return new Map(ordinals.map((ordinal) => [ordinal, known.get(ordinal) ?? missing.get(ordinal)!]));
  }

  #take(key: string): HyperLogLog | undefined {
    const union = this.#kept.get(key);
    if (union === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, union);
    return union;
  }

  #keep(key: string, union: HyperLogLog): void {
    if (this.#kept.has(key)) return; // Another report read it meanwhile.
    this.#kept.set(key, union);
    this.#bytes += unionBytes + union.bytes;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= maxBytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= unionBytes + bytes;
    }
  }
}

/** The union of the sketches, which do not change. The result may be one of them. */
export function unite(sketches: readonly HyperLogLog[]): HyperLogLog {
  const [first = new HyperLogLog(), ...others] = sketches.filter((sketch) => sketch.bytes > 0);
  if (others.length === 0) return first;
  const union = first.copy();
  for (const other of others) union.merge(other);
  return union;
}

function emptyOnes(ordinals: readonly number[]): ReadonlyMap<number, HyperLogLog> {
  return new Map(ordinals.map((ordinal) => [ordinal, new HyperLogLog()]));
}
