import { type IdentityTables, putHashedMint, putHashedUse, removeIdentity } from '../lmdb/instances.ts';
import type { Envelope } from './envelope.ts';

type Key = string;
type Table = IdentityTables['identities'];

/**
 * People with their instance ids as the journal leaves them: what the store has, and over it what was committed and is not folded
 * yet. Only people whose ids were minted, used or forgotten meanwhile take memory.
 */
export class UnfoldedPeople implements IdentityTables {
  readonly identities: LayeredTable;
  readonly identityDays: LayeredTable;

  constructor({ identities, identityDays }: IdentityTables) {
    this.identities = new LayeredTable(identities);
    this.identityDays = new LayeredTable(identityDays);
  }

  /** Adds what a batch says of people, once it is on disk. */
  add({ mints, uses, forgotten }: Pick<Envelope, 'mints' | 'uses' | 'forgotten'>): void {
    if (mints.length + uses.length + forgotten.length === 0) return;
    this.identities.resetReadTxn(); // Otherwise the store is read as it was some folds ago.
    for (const mint of mints) putHashedMint(this, mint);
    for (const use of uses) putHashedUse(this, use);
    for (const { application, digest } of forgotten) {
      removeIdentity(this, application, Buffer.from(digest, 'hex'));
    }
  }

  /** A fold begins. @returns ends it once the store has all that was added before */
  beginFold(): () => void {
    const [identities, days] = [this.identities.push(), this.identityDays.push()];
    return () => {
      this.identities.drop(identities);
      this.identityDays.drop(days);
    };
  }
}

/** A table with changes over it, in layers. `undefined` is the value of a removed record. */
class LayeredTable implements Table {
  readonly #base: Table;
  /** The newest last. */
  readonly #layers: Map<Key, Buffer | undefined>[] = [new Map()];

  constructor(base: Table) {
    this.#base = base;
  }

  get(key: Buffer): Buffer | undefined {
    const name = key.toString('latin1');
    const layer = this.#layers.findLast((each) => each.has(name));
    return layer === undefined ? this.#base.get(key) : layer.get(name);
  }

  putSync(key: Buffer, value: Buffer): boolean {
    this.#layers.at(-1)!.set(key.toString('latin1'), value);
    return true;
  }

  removeSync(key: Buffer): boolean {
    this.#layers.at(-1)!.set(key.toString('latin1'), undefined);
    return true;
  }

  resetReadTxn(): void {
    this.#base.resetReadTxn();
  }

  /** Begins a layer. @returns the number of those before */
  push(): number {
    if (this.#layers.at(-1)!.size > 0) this.#layers.push(new Map());
    return this.#layers.length - 1;
  }

  /** Drops the oldest layers. */
  drop(count: number): void {
    this.#layers.splice(0, count);
  }
}
