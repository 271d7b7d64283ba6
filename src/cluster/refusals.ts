import type { ReplicaStore } from '../store/replica-store.ts';
import type { ReplicaState } from './replica-state.ts';

/** A row of an entry that could not be applied. The rest of its entry was. */
export interface Refusal {
  readonly position: number;
  readonly stream: string;
  readonly seq: number;
  /** What the row is part of. */
  readonly place: string;
  /** For people. */
  readonly reason: string;
  /** JSON. */
  readonly row: string;
}

/** Refusals that are kept. */
const keptRefusals = 1_000;
const longestRow = 1_000;

/** The last rows that were refused. `refused`: key: their number (u48, big-endian), counted from 1. Value: JSON. */
export class Refusals {
  readonly #store: ReplicaStore;
  readonly #state: ReplicaState;

  constructor(store: ReplicaStore, state: ReplicaState) {
    this.#store = store;
    this.#state = state;
  }

  /** All rows that were ever refused. */
  get count(): number {
    return this.#state.get('refused') ?? 0;
  }

  /** Call it in a transaction. */
  add(refusal: Refusal): void {
    const number = this.count + 1;
    this.#state.set('refused', number);
    const kept = { ...refusal, row: refusal.row.slice(0, longestRow) };
    this.#store.refused.putSync(keyOf(number), Buffer.from(JSON.stringify(kept)));
    if (number > keptRefusals) this.#store.refused.removeSync(keyOf(number - keptRefusals));
  }

  /** The latest, first. */
  latest(limit: number): Refusal[] {
    this.#store.lmdb.resetReadTxn();
    const range = { reverse: true, limit } as const;
    return Array.from(this.#store.refused.getRange(range), ({ value }) => JSON.parse(value.toString()));
  }
}

function keyOf(number: number): Buffer {
  const key = Buffer.allocUnsafe(6);
  key.writeUIntBE(number, 0, 6);
  return key;
}
