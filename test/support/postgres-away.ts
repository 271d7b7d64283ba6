import type { AccountStore } from '../../src/accounts/store/account-store.ts';
import { ApiError, postgresUnavailable } from '../../src/contract/errors.ts';
import { embeddedStorage, type Storage } from '../../src/serve/storage.ts';

/** The data directory, behind an engine that can be told not to answer. */
export interface SwitchedStorage extends Storage {
  away: boolean;
}

/** Everything is in the data directory, but each request asks for it as if it were elsewhere. */
export function switchedStorage(): SwitchedStorage {
  const embedded = embeddedStorage();
  const storage: SwitchedStorage = {
    ...embedded,
    away: false,
    async openAccounts(parts, health) {
      const accountStore = await embedded.openAccounts(parts, health);
      const current: AccountStore['current'] = async () => {
        if (storage.away) throw new ApiError('engine_unavailable', postgresUnavailable, 2);
      };
      return Object.assign(accountStore, { current });
    },
  };
  return storage;
}
