import type { AccountStore } from '../../src/accounts/store/account-store.ts';
import { postgresUnavailable, Refusal } from '../../src/contract/errors.ts';
import { embeddedStorage, type Storage } from '../../src/serve/storage.ts';

/** Storage whose accounts a test can make unavailable, as if PostgreSQL were unreachable. */
export interface SwitchedStorage extends Storage {
  away: boolean;
}

/** Returns storage in the data directory. Requests are refused while a test makes its accounts unavailable. */
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
