import type { ReplicaStore } from '../storage/lmdb/replica-store.ts';
import type { ReplicaState } from './replica-state.ts';

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
