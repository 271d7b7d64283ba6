import {
  type HashedMint,
  type IdentityTables,
  putHashedMint,
  putHashedUse,
  removeIdentity,
} from '../lmdb/instances.ts';
import { prefixedKey } from '../lmdb/key-prefix.ts';
import type { Envelope } from './envelope.ts';

type Key = string;
type Table = IdentityTables['identities'];

/** A changed record, `undefined` for a removed record, or a mint (a new instance id) that the record lacks. */
type Change = Buffer | HashedMint | undefined;
type Layer = Map<Key, Change>;

/**
 * People with their instance ids, as on disk: the store's records, overlaid with changes in the journal. Only people
 * whose ids were issued, used or forgotten since the last fold take memory.
 */
export class UnfoldedPeople implements IdentityTables {
  readonly identities: LayeredTable;
  readonly identityDays: LayeredTable;

  constructor({ identities, identityDays }: IdentityTables) {
    this.identities = new LayeredTable(identities);
    this.identityDays = new LayeredTable(identityDays);
  }

  /** Applies the changes of a batch to people. Call this once the batch is on disk. */
  add({ mints, uses, forgotten }: Pick<Envelope, 'mints' | 'uses' | 'forgotten'>): void {
    if (mints.length + uses.length + forgotten.length === 0) return;
    this.identities.resetReadTxn(); // Reset the read, or later reads would use an old snapshot of the store.
    for (const mint of mints) this.#addMint(mint);
    for (const use of uses) putHashedUse(this, use);
    for (const { application, digest } of forgotten) {
      removeIdentity(this, application, Buffer.from(digest, 'hex'));
    }
  }

  /** Notes a mint without reading the record, because most mints are folded before their record is needed. */
  #addMint(mint: HashedMint): void {
    if (!this.identities.note(mint)) putHashedMint(this, mint);
  }

  /** Starts a fold. @returns a function that ends the fold once the store has everything added before */
  beginFold(): () => void {
    const identities = this.identities.push();
    const days = this.identityDays.push();
    return () => {
      this.identities.drop(identities);
      this.identityDays.drop(days);
    };
  }
}

/** A table overlaid with changes, in layers. */
class LayeredTable implements Table {
  readonly #base: Table;
  /** The layers, the newest last. */
  readonly #layers: Layer[] = [new Map()];

  constructor(base: Table) {
    this.#base = base;
  }

  get(key: Buffer): Buffer | undefined {
    return this.#read(key, key.toString('latin1'), this.#layers.length - 1);
  }

  putSync(key: Buffer, value: Buffer): boolean {
    this.#layers.at(-1)!.set(key.toString('latin1'), value);
    return true;
  }

  removeSync(key: Buffer): boolean {
    this.#layers.at(-1)!.set(key.toString('latin1'), undefined);
    return true;
  }

  /** Notes a mint to apply when the record is read. @returns false if the record has changed since the last fold */
  note(mint: HashedMint): boolean {
    const layer = this.#layers.at(-1)!;
    const name = prefixedKey(mint.application, mint.digest).toString('latin1');
    if (layer.has(name)) return false;
    layer.set(name, mint);
    return true;
  }

  resetReadTxn(): void {
    this.#base.resetReadTxn();
  }

  /** Starts a layer. @returns the number of earlier layers */
  push(): number {
    if (this.#layers.at(-1)!.size > 0) this.#layers.push(new Map());
    return this.#layers.length - 1;
  }

  drop(count: number): void {
    this.#layers.splice(0, count);
  }

  /** The record of the store with the changes up to a layer. */
  #read(key: Buffer, name: Key, top: number): Buffer | undefined {
    for (let at = top; at >= 0; at -= 1) {
      const layer = this.#layers[at]!;
      if (!layer.has(name)) continue;
      const change = layer.get(name);
      return change === undefined || Buffer.isBuffer(change) ? change : this.#apply(change, key, name, at);
    }
    return this.#base.get(key);
  }

  /** Applies a noted mint to the record in the layers below, unless a fold has already added the mint to the record. */
  #apply(mint: HashedMint, key: Buffer, name: Key, at: number): Buffer | undefined {
    const layer = this.#layers[at]!;
    let record = this.#read(key, name, at - 1);
    const below: Table = {
      get: () => record,
      putSync: (_, value) => {
        record = value;
        return true;
      },
      removeSync: () => true,
      resetReadTxn: () => {},
    };
    putHashedMint({ identities: below, identityDays: { ...below, putSync: () => true } }, mint);
    layer.set(name, record);
    return record;
  }
}
