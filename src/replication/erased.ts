import { erasures } from '../storage/aggregate/maintain.ts';
import { prefixKey } from '../storage/lmdb/key-prefix.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import type { ReplicaStore } from '../storage/lmdb/replica-store.ts';
import type { ErasedThings } from './entry.ts';
import type { ReplicaState } from './replica-state.ts';

const environmentKind = 'e';
const applicationKind = 'a';
const toDoKind = 't';

/**
 * Environments and applications that were deleted. What a stream has counted of them before may come later, so their numbers are
 * kept for good, and rows of them are left out.
 *
 * `erased`: key: `e` and the number of an environment, or `a` and that of an application (u32, big-endian); the value is empty.
 * `t` and JSON of what is still to be erased.
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

  /** Notes a deletion, of which everything is to be erased. Call it in a transaction. */
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

  /** Erases some of what is to be erased. Call it in a transaction. @returns records touched: 0 when nothing is left */
  step(limit: number): number {
    const range = { start: Buffer.from(toDoKind), end: Buffer.from('u'), limit: 1 };
    const [key] = Array.from(this.#store.erased.getKeys(range), (each) => Buffer.from(each));
    if (key === undefined) return 0;
    const things = JSON.parse(key.subarray(1).toString()) as Deletion;
    let touched = 0;
    for (const chore of erasures(this.#store, things)) if (touched < limit) touched += chore(limit - touched);
    if (touched > 0) return touched;
    this.#store.erased.removeSync(key);
    return 1;
  }

  /** Drops what is in memory: after a commit that failed, the store is the truth. */
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
 * People who were forgotten, for as long as a stream may still bring what it counted of them before.
 *
 * `forgotten`: key: the digest of the identity (16, see `digestIdentity`). Value: the position (f64, little-endian) of the
 * entry that has them forgotten.
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

  /** Whether a person was forgotten after this position of the log. */
  has(digest: Uint8Array, since: number): boolean {
    const value = this.#store.forgotten.get(Buffer.from(digest));
    return value !== undefined && since < value.readDoubleLE(0);
  }

  /** Whether all who were forgotten after this position are remembered. */
  knows(since: number): boolean {
    return since >= (this.#state.get('forgottenUntil') ?? 0);
  }

  /** All streams fill deltas that they began at this position or later. Call it in a transaction. */
  end(since: number): void {
    const past = Array.from(this.#store.forgotten.getRange({}), ({ key, value }) => ({
      key: Buffer.from(key),
      position: value.readDoubleLE(0),
    })).filter(({ position }) => position <= since);
    for (const { key } of past) this.#store.forgotten.removeSync(key);
    // Where no one was forgotten, there is nothing that an older delta could bring back.
    const last = Math.max(0, ...past.map(({ position }) => position));
    if (this.knows(last)) this.#state.set('forgottenUntil', last);
  }
}
