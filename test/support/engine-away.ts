import type { Engine } from '../../src/accounts/store/engine.ts';
import { ApiError, engineUnavailable } from '../../src/contract/errors.ts';
import { embeddedStorage } from '../../src/serve/embedded-storage.ts';
import type { Storage } from '../../src/serve/storage.ts';

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
    async openEngine(parts, health) {
      const engine = await embedded.openEngine(parts, health);
      const current: Engine['current'] = async () => {
        if (storage.away) throw new ApiError('engine_unavailable', engineUnavailable, 2);
      };
      return Object.assign(engine, { current });
    },
  };
  return storage;
}
