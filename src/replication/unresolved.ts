import type { Envelope } from '../storage/commit/envelope.ts';
import type { Section } from '../storage/commit/sections.ts';
import { prefixedKey } from '../storage/lmdb/key-prefix.ts';
import type { SpoolStore } from '../storage/lmdb/spool.ts';
import { encodeUnresolved } from './delta.ts';

/** What the open delta holds at most of unknown instance ids: strangers make them up. */
export const maxUnresolved = 10_000;

/** Unknown instance ids in the order in which they came. Those beyond the room are left out, like ids that were never minted. */
export class UnresolvedSection implements Section {
  readonly #store: SpoolStore;
  #held: number;
  #next: number;

  constructor(store: SpoolStore) {
    this.#store = store;
    const [last] = store.unresolved.getKeys({ reverse: true, limit: 1 });
    this.#next = last === undefined ? 0 : last.readUIntBE(0, keyBytes) + 1;
    this.#held = store.unresolved.getKeysCount();
  }

  add({ unresolved }: Pick<Envelope, 'unresolved'>): void {
    for (const use of unresolved) {
      if (this.#held >= maxUnresolved) return;
      const key = Buffer.alloc(keyBytes);
      key.writeUIntBE(this.#next, 0, keyBytes);
      this.#store.unresolved.putSync(key, encodeUnresolved(use));
      this.#next += 1;
      this.#held += 1;
    }
  }

  /** One of them was sealed. */
  sealed(): void {
    this.#held -= 1;
  }

  /** Counts again: the transaction failed. */
  forget(): void {
    this.#held = this.#store.unresolved.getKeysCount();
  }
}

const keyBytes = 6;

/** Instance ids that were used. */
export function usesSection({ used }: SpoolStore): Section {
  return {
    add({ uses }) {
      for (const { application, digest, hash, expiresAt } of uses) {
        const id = Buffer.concat([digest, hash]);
        const key = prefixedKey(application, id);
        const known = used.get(key)?.readDoubleLE(0) ?? 0;
        const value = Buffer.allocUnsafe(8);
        value.writeDoubleLE(Math.max(known, expiresAt), 0);
        used.putSync(key, value);
      }
    },
  };
}
