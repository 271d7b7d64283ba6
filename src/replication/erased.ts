import { type Chore, erasures } from '../storage/aggregate/maintain.ts';
import { prefixKey } from '../storage/lmdb/key-prefix.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import type { ReplicaStore } from '../storage/lmdb/usage.ts';
import { removeRememberedTimes } from './counted-messages.ts';
import type { ErasedThings } from './entry.ts';
import type { ReplicaState } from './replica-state.ts';

const environmentKind = 'e';
const applicationKind = 'a';
const toDoKind = 't';

/**
 * Deleted environments and applications. Their numbers are kept permanently: streams may ship counts of them later, which are
 * skipped.
 *
 * `erased`: key: `e` and the number of an environment, or `a` and that of an application (u32, big-endian); the value is empty.
 * `t` and JSON of a deletion that is not finished.
 */
export class Erased {
  readonly #store: ReplicaStore;
  readonly #environments = new Set<number>();
  readonly #applications = new Set<number>();

  constructor(store: ReplicaStore) {
    this.#store = store;
    this.forget();
  }

  hasEnvironment(number: number): boolean {
    return this.#environments.has(number);
  }

  hasApplication(number: number): boolean {
    return this.#applications.has(number);
  }

  /** Adds a deletion, which `step` carries out. Call it in a transaction. */
  add(things: ErasedThings): void {
    const { erased } = this.#store;
    for (const number of things.environments) {
      this.#environments.add(number);
      erased.putSync(keyOf(environmentKind, number), nothing);
    }
    if (things.whole) {
      this.#applications.add(things.application);
      erased.putSync(keyOf(applicationKind, things.application), nothing);
    }
    const { application, environments, whole } = things;
    erased.putSync(Buffer.from(toDoKind + JSON.stringify({ application, environments, whole })), nothing);
  }

  /** Erases some records. Call it in a transaction. @returns the number of records, 0 when nothing is left */
  step(limit: number): number {
    const range = { start: Buffer.from(toDoKind), end: Buffer.from('u'), limit: 1 };
    const [key] = Array.from(this.#store.erased.getKeys(range), (each) => Buffer.from(each));
    if (key === undefined) return 0;
    const things = JSON.parse(key.subarray(1).toString()) as Deletion;
    let touched = 0;
    const chores = [...erasures(this.#store, things), ...this.#timesOf(things)];
    for (const chore of chores) if (touched < limit) touched += chore(limit - touched);
    if (touched > 0) return touched;
    this.#store.erased.removeSync(key);
    return 1;
  }

  #timesOf({ application, environments }: Deletion): readonly Chore[] {
    return environments.map(
      (environment) => (room) => removeRememberedTimes(this.#store, application, environment, room),
    );
  }

  /** Reads the numbers again after a failed transaction. */
  forget(): void {
    this.#environments.clear();
    this.#applications.clear();
    for (const key of this.#store.erased.getKeys({ end: Buffer.from(toDoKind) })) {
      const numbers = key[0] === environmentKind.charCodeAt(0) ? this.#environments : this.#applications;
      numbers.add(key.readUInt32BE(1));
    }
  }
}

const nothing = Buffer.alloc(0);

function keyOf(kind: string, number: number): Buffer {
  return Buffer.concat([Buffer.from(kind), prefixKey(number)]);
}

/**
 * Forgotten people, as long as a stream may ship earlier counts of them.
 *
 * `forgotten`: key: the digest of the identity (16, see `digestIdentity`). Value: the position (f64, little-endian) of the entry
 * that forgot them.
 */
export class ForgottenPeople {
  readonly #store: ReplicaStore;
  readonly #state: ReplicaState;

  constructor(store: ReplicaStore, state: ReplicaState) {
    this.#store = store;
    this.#state = state;
  }

  /** Call it in a transaction. */
  add(digest: Uint8Array, position: number): void {
    const value = Buffer.allocUnsafe(8);
    value.writeDoubleLE(position, 0);
    this.#store.forgotten.putSync(Buffer.from(digest), value);
  }

  /** Whether a person was forgotten after a position of the log. */
  has(digest: Uint8Array, since: number): boolean {
    const value = this.#store.forgotten.get(Buffer.from(digest));
    return value !== undefined && since < value.readDoubleLE(0);
  }

  /** Whether everyone forgotten after a position is still listed. */
  knows(since: number): boolean {
    return since >= (this.#state.get('forgottenUntil') ?? 0);
  }

  /** Removes people once all streams began their deltas at `since` or later. Call it in a transaction. */
  end(since: number): void {
    const past = Array.from(this.#store.forgotten.getRange({}), ({ key, value }) => ({
      key: Buffer.from(key),
      position: value.readDoubleLE(0),
    })).filter(({ position }) => position <= since);
    for (const { key } of past) this.#store.forgotten.removeSync(key);
    // If no one was forgotten, an older delta can restore nothing.
    const last = Math.max(0, ...past.map(({ position }) => position));
    if (this.knows(last)) this.#state.set('forgottenUntil', last);
  }
}
