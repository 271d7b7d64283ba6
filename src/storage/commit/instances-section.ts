import { putHashedMint, putHashedUse, removeIdentity } from '../lmdb/instances.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import type { Section } from './section.ts';

/** Minted instance ids, their uses, and identities to be forgotten. Keeps nothing in memory. */
export function instancesSection(store: UsageStore): Section {
  return {
    add({ mints, uses, forgotten }) {
      for (const mint of mints) putHashedMint(store, mint);
      for (const use of uses) putHashedUse(store, use);
      for (const { application, digest } of forgotten) {
        removeIdentity(store, application, Buffer.from(digest, 'hex'));
      }
    },
  };
}
