import type { UnresolvedUse } from '../commit/envelope.ts';
import type { Section } from '../commit/section.ts';
import { digestOfInstance, hashOf } from '../store/instances.ts';
import { prefixedKey } from '../store/key-prefix.ts';
import type { SpoolStore } from '../store/spool.ts';
import type { UnresolvedInstance } from './delta.ts';
import { encodeUnresolved } from './delta.ts';

/** What the open delta holds at most of unknown instance ids: strangers make them up. */
export const maxUnresolved = 10_000;

/** What came with an unknown instance id, as it crosses to other machines. */
export function unresolvedOf({ instanceId, ...use }: UnresolvedUse): UnresolvedInstance {
  return { ...use, digest: digestOfInstance(instanceId)!, hash: hashOf(instanceId) };
}

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

  write({ unresolved }: { readonly unresolved: readonly UnresolvedUse[] }): void {
    for (const use of unresolved) {
      if (this.#held >= maxUnresolved) return;
      const key = Buffer.alloc(keyBytes);
      key.writeUIntBE(this.#next, 0, keyBytes);
      this.#store.unresolved.putSync(key, encodeUnresolved(unresolvedOf(use)));
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
    write({ uses }) {
      for (const { application, instanceId, expiresAt } of uses) {
        const id = Buffer.concat([digestOfInstance(instanceId)!, hashOf(instanceId)]);
        const key = prefixedKey(application, id);
        const known = used.get(key)?.readDoubleLE(0) ?? 0;
        const value = Buffer.allocUnsafe(8);
        value.writeDoubleLE(Math.max(known, expiresAt), 0);
        used.putSync(key, value);
      }
    },
    forget: () => {},
  };
}
