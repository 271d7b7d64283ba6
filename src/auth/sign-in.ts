import { anonymous } from '../accounts/actors.ts';
import type { Directory } from '../accounts/directory.ts';
import type { PasswordPool } from '../accounts/password-pool.ts';
import { nobodysPasswordHash } from '../accounts/passwords.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import { userOfEmail } from '../accounts/users.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { Actor, OAuthClient, User } from '../store/records.ts';
import { commit } from '../store/transact.ts';
import { type BrakeDeps, releaseBrakes, takeBrakes } from './brakes.ts';
import { type Browser, renewBrowser } from './browser.ts';
import { maySignIn } from './clients.ts';
import { type CurrentSignIn, type SignInDeps, startSignIn } from './sign-ins.ts';

/** What signing in works on. */
export interface SignInSettings extends BrakeDeps, SignInDeps {
  readonly accounts: Pick<AccountStore, 'lmdb' | 'brakes' | 'signIns'>;
  readonly directory: Directory;
  readonly passwords: PasswordPool;
  readonly randomBytes: RandomBytes;
}

/** What a user typed, and where. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Of the peer. */
  readonly address: string;
  readonly browser: Browser;
}

/** What came of it. An account that there is not and a wrong password are the same. */
export type SignInResult =
  | { readonly outcome: 'signed-in'; readonly browser: Browser; readonly signIn: CurrentSignIn }
  | { readonly outcome: 'wrong' }
  /** The user may not use this client. */
  | { readonly outcome: 'not-a-member' }
  /** Too many have failed; `wait` in seconds. */
  | { readonly outcome: 'braked'; readonly wait: number };

/**
 * Signs a user in. Everything is on disk before this returns: the count of failures, the sign-in, and the entry in the
 * audit log.
 * @throws {ApiError} `backpressure`, `store_unavailable`
 */
export async function signIn(
  settings: SignInSettings,
  credentials: Credentials,
  client: OAuthClient,
): Promise<SignInResult> {
  const { accounts, directory, health, passwords, randomBytes } = settings;
  const { email, password, address, browser: before } = credentials;
  const attempt = { email, address, browser: before };
  passwords.checkRoom(); // First: what is not going to be checked must neither count nor fill the disk.
  const taken = takeBrakes(settings, attempt);
  if (taken.wait > 0) return { outcome: 'braked', wait: taken.wait };
  const known = userOfEmail(directory, email);
  const right = await passwords.verify(password, known?.passwordHash ?? nobodysPasswordHash);
  // Meanwhile he may have been deleted, or have got another password.
  const user = known && directory.users.get(known.id);
  if (!right || user?.passwordHash !== known?.passwordHash || user === undefined) {
    await note(directory.by(anonymous(address)), 'sign-in.failed', user);
    return { outcome: 'wrong' };
  }
  const own = directory.by(actorOf(user, address));
  if (!maySignIn(user, client)) {
    commit(accounts.lmdb, health, () => releaseBrakes(settings, attempt, taken));
    await note(own, 'sign-in.refused', user);
    return { outcome: 'not-a-member' };
  }
  const browser = renewBrowser(before, randomBytes);
  const signIn = commit(accounts.lmdb, health, () => {
    releaseBrakes(settings, attempt, taken);
    return startSignIn(settings, user, before, browser);
  });
  await note(own, 'sign-in.succeeded', user);
  return { outcome: 'signed-in', browser, signIn };
}

function actorOf({ id, email }: User, address: string): Actor {
  return { type: 'user', id, name: email, address };
}

/** An unknown account is noted too, which takes as long; what was typed is not: it may be a password. */
function note(directory: Directory, action: string, user: User | undefined): Promise<void> {
  const { id, email: name, teams } = user ?? { id: '', email: '', teams: [null] };
  return directory.change((draft) => {
    for (const teamId of teams) draft.note(action, teamId, { type: 'user', id, name });
  });
}
