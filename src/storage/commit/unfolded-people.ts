import { type IdentityTables, putHashedMint, putHashedUse, removeIdentity } from '../lmdb/instances.ts';
import type { Envelope } from './envelope.ts';

type Key = string;
type Table = IdentityTables['identities'];

/**
 * People with their instance ids, including the journal: the store's records, overlaid with committed changes that are not
 * folded yet. Only people whose ids were minted, used or forgotten since the last fold take memory.
 */
export class UnfoldedPeople implements IdentityTables {
  readonly identities: LayeredTable;
  readonly identityDays: LayeredTable;

  constructor({ identities, identityDays }: IdentityTables) {
    this.identities = new LayeredTable(identities);
    this.identityDays = new LayeredTable(identityDays);
  }

  /** Applies a batch's changes to people, once it is on disk. */
  add({ mints, uses, forgotten }: Pick<Envelope, 'mints' | 'uses' | 'forgotten'>): void {
    if (mints.length + uses.length + forgotten.length === 0) return;
    this.identities.resetReadTxn(); // Otherwise reads would use an old snapshot of the store.
    for (const mint of mints) putHashedMint(this, mint);
    for (const use of uses) putHashedUse(this, use);
    for (const { application, digest } of forgotten) {
      removeIdentity(this, application, Buffer.from(digest, 'hex'));
    }
  }

  /** Starts a fold. @returns a function that ends it once the store has everything added before */
  beginFold(): () => void {
    const [identities, days] = [this.identities.push(), this.identityDays.push()];
    return () => {
      this.identities.drop(identities);
      this.identityDays.drop(days);
    };
  }
}

/** A table overlaid with changes, in layers. `undefined` stands for a removed record. */
class LayeredTable implements Table {
  readonly #base: Table;
  /** The newest is last. */
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

  /** Starts a layer. @returns the number of earlier ones */
  push(): number {
    if (this.#layers.at(-1)!.size > 0) this.#layers.push(new Map());
    return this.#layers.length - 1;
  }

  drop(count: number): void {
    this.#layers.splice(0, count);
  }
}
