import { redeemInvitation, userOfLink } from '../../accounts/invitations.ts';
import { commonPassword, typedFault } from '../../accounts/password-rules.ts';
import { hashSecret } from '../../accounts/secrets.ts';
import { mayUsePassword } from '../../accounts/sign-in-policy.ts';
import { draftUserPatch } from '../../accounts/users.ts';
import { ApiError } from '../../contract/errors.ts';
import type { User } from '../../storage/lmdb/records.ts';
import type { Browser } from '../cookies/browser.ts';
import { countAttempt, forgiveAttempt } from '../factors/login-throttle.ts';
import type { SignInServices } from '../factors/sign-in.ts';
import { consoleClientId, findClient } from '../oauth/clients.ts';
import { type DraftedSignIn, draftSignIn } from '../oauth/draft-sign-in.ts';
import { endSessionsOf } from '../oauth/sessions.ts';

/** A link that a browser presents. */
export interface PresentedLink {
  /** The secret of the link. */
  readonly token: string;
  /** The address of the peer. */
  readonly address: string;
  readonly browser: Browser;
}

/** The link is not valid: it was used, replaced or withdrawn, or has expired; or too many attempts have failed (`wait` in seconds). */
type Rejected = { readonly outcome: 'over' } | { readonly outcome: 'throttled'; readonly wait: number };

export type FoundLink = { readonly outcome: 'valid'; readonly user: User } | Rejected;

/**
 * Finds the user of a link. Attempts are throttled as sign-ins are, with the link in place of the account.
 * @throws {ApiError} `store_unavailable`
 */
export async function findLink(settings: SignInServices, presented: PresentedLink): Promise<FoundLink> {
  const { directory, clock } = settings;
  const { token, address, browser } = presented;
  const attempt = { email: `link ${hashSecret(token)}`, address, browser };
  const counted = await countAttempt(settings, attempt);
  if (counted.wait > 0) return { outcome: 'throttled', wait: counted.wait };
  const user = userOfLink(directory, token, clock.now());
  if (user === undefined) return { outcome: 'over' };
  await forgiveAttempt(settings, attempt, counted);
  return { outcome: 'valid', user };
}

interface TypedForLink extends PresentedLink {
  readonly password: string;
  readonly again: string;
  readonly userAgent: string;
}

type AcceptResult =
  | DraftedSignIn
  | Rejected
  /** `fault` is for the user. */
  | { readonly outcome: 'refused'; readonly user: User; readonly fault: string };

const noPasswords = 'You cannot use a password here. Continue with an identity provider.';

/**
 * Sets the password of the user of a link, ends their sessions, and signs them in to the console.
 * @throws {ApiError} `rate_limited`, `backpressure`, `store_unavailable`
 */
export async function acceptInvitation(settings: SignInServices, typed: TypedForLink): Promise<AcceptResult> {
  const { directory, clock } = settings;
  const { token, password, address, browser, userAgent } = typed;
  const found = await findLink(settings, typed);
  if (found.outcome !== 'valid') return found;
  const { id, email } = found.user;
  const fault = typedFault(typed, email);
  if (fault !== undefined) return { outcome: 'refused', user: found.user, fault };
  const passwordHash = await hashUncommon(settings, password, id);
  if (passwordHash === undefined)
    return { outcome: 'refused', user: found.user, fault: `The password ${commonPassword}.` };
  return directory.under({ id, address }).change((draft) => {
    const now = clock.now();
    // The policy may have changed since the page was shown.
    if (!mayUsePassword(draft, found.user))
      return { outcome: 'refused', user: found.user, fault: noPasswords };
    const user = redeemInvitation(draft, token, now);
    if (user === undefined) return { outcome: 'over' };
    const patched = draftUserPatch(draft, user, { passwordHash }, now, { factors: ['invitation'] });
    endSessionsOf({ clock }, draft, id);
    const client = findClient(draft, consoleClientId)!;
    const authentication = { factors: ['invitation', 'password'], userAgent } as const;
    return draftSignIn(settings, draft, patched, { client, browser, authentication });
  });
}

/** @returns `undefined` for a common password */
async function hashUncommon(
  { passwords, randomBytes }: SignInServices,
  password: string,
  caller: string,
): Promise<string | undefined> {
  try {
    return await passwords.hash(password, randomBytes, caller);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_body') return undefined;
    throw error;
  }
}
