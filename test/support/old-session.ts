import { randomBytes } from 'node:crypto';
import { EmbeddedAccountStore } from '../../src/accounts/store/embedded.ts';
import { beginConsoleSession } from '../../src/auth/console-session.ts';
import { startSession } from '../../src/auth/oauth/sessions.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { testHealth } from '../accounts/fixture.ts';

/** Sessions of a user who signed in an hour ago. */
export interface OldSessions {
  /** Value of the console's session cookie in a browser. */
  readonly cookie: string;
  /** Refresh token of the command-line client. */
  readonly refreshToken: string;
}

/** Adds old sessions of the first user to a data directory. No server may be using the directory. */
export async function addOldSessions(data: string): Promise<OldSessions> {
  const store = openAccountTables(data);
  const accountStore = new EmbeddedAccountStore(store, testHealth());
  const then = Date.now() - 3_600_000;
  const sources = { clock: { now: () => then, monotonic: () => 0 }, randomBytes };
  const [userId = ''] = accountStore.records('users').keys();
  const granted = { userId, signIn: 'an-hour-ago', scope: 'openid flagmeter', authTime: Math.floor(then / 1000) };
  try {
    return await accountStore.change((tx) => ({
      cookie: beginConsoleSession(sources, tx, granted).cookie,
      refreshToken: startSession(sources, tx, { ...granted, clientId: 'flagmeter-cli' }).refreshToken,
    }));
  } finally {
    await store.lmdb.close();
  }
}
