import type { AccountStore } from '../../src/accounts/store/account-store.ts';
import { postgresUnavailable, Refusal } from '../../src/contract/errors.ts';
import { embeddedStorage, type Storage } from '../../src/serve/storage.ts';

/** A data directory whose accounts can be made unavailable, as with PostgreSQL. */
export interface SwitchedStorage extends Storage {
  away: boolean;
}

/** Returns storage in the data directory, whose requests confirm the accounts as if they were in PostgreSQL. */
export function switchedStorage(): SwitchedStorage {
  const embedded = embeddedStorage();
  const storage: SwitchedStorage = {
    ...embedded,
    away: false,
    async openAccounts(parts, health) {
      const accountStore = await embedded.openAccounts(parts, health);
      const current: AccountStore['current'] = async () => {
        if (storage.away) throw new Refusal('postgres_unavailable', postgresUnavailable, 2);
      };
      return Object.assign(accountStore, { current });
    },
  };
  return storage;
}
