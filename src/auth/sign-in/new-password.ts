import type { AccountDraft } from '../../accounts/account-draft.ts';
import { typedFault } from '../../accounts/password-rules.ts';
import { draftUserPatch } from '../../accounts/users.ts';
import type { OAuthClient, User } from '../../storage/lmdb/records.ts';
import { maySignIn } from '../clients/clients.ts';
import { endSessionsOf } from '../sessions.ts';
import { type Browser, renewBrowser } from './browser.ts';
import type { SignInSettings } from './sign-in.ts';
import { type CurrentSignIn, currentSignIn, startSignIn } from './sign-ins.ts';

/** The form in which a user with a temporary password chooses a new one. */
export interface TypedPassword {
  readonly password: string;
  readonly again: string;
  /** The address of the peer. */
  readonly address: string;
  readonly browser: Browser;
}

export type NewPasswordResult =
  | { readonly outcome: 'signed-in'; readonly browser: Browser; readonly signIn: CurrentSignIn }
  /** `fault` is for the user. */
  | { readonly outcome: 'refused'; readonly user: User; readonly fault: string }
  /** The user may not use this client. */
  | { readonly outcome: 'not-a-member'; readonly user: User }
  /** The browser is not signed in, or the user has already set a password. */
  | { readonly outcome: 'over' };

/**
 * Replaces the temporary password of a browser's user, and signs the browser in with the new one.
 * @throws {ApiError} `invalid_body` for a common password, `rate_limited`, `backpressure`, `store_unavailable`
 */
export async function replacePassword(
  settings: SignInSettings,
  typed: TypedPassword,
  client: OAuthClient,
): Promise<NewPasswordResult> {
  const { directory, passwords, randomBytes } = settings;
  const { password, address, browser } = typed;
  const signIn = await currentSignIn(settings, browser);
  if (signIn?.missing !== 'new-password') return { outcome: 'over' };
  const { user } = signIn;
  if (!maySignIn(user, client)) return { outcome: 'not-a-member', user };
  const refused = (fault: string) => ({ outcome: 'refused', user, fault }) as const;
  const fault = typedFault(typed, user.email);
  if (fault !== undefined) return refused(fault);
  if (await passwords.verify(password, user.passwordHash, user.id))
    return refused('Choose a password other than the one you signed in with.');
  const passwordHash = await passwords.hash(password, randomBytes, user.id);
  return directory
    .under({ id: user.id, address })
    .change((draft) => exchange(settings, draft, { signIn, passwordHash, browser }));
}

/** Drafts the change, unless the password has changed in the meantime. */
function exchange(
  { clock, randomBytes }: Pick<SignInSettings, 'clock' | 'randomBytes'>,
  draft: AccountDraft,
  given: { readonly signIn: CurrentSignIn; readonly passwordHash: string; readonly browser: Browser },
): NewPasswordResult {
  const { passwordHash, browser: before } = given;
  const { user: seen, authentication } = given.signIn;
  const user = draft.users.get(seen.id);
  if (user?.passwordHash !== seen.passwordHash) return { outcome: 'over' };
  const now = clock.now();
  const patched = draftUserPatch(draft, user, { passwordHash }, now, authentication);
  endSessionsOf({ clock }, draft, user.id);
  const browser = renewBrowser(before, randomBytes);
  const signIn = startSignIn(draft, patched, { before, browser, authentication, now });
  return { outcome: 'signed-in', browser, signIn };
}
