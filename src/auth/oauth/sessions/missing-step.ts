import { hasTemporaryPassword } from '../../../accounts/passwords.ts';
import { secondFactorsOf } from '../../../accounts/second-factors.ts';
import { demandsSecondFactor } from '../../../accounts/sign-in-policy.ts';
import type { Reader } from '../../../accounts/store/account-store.ts';
import type { Authentication } from '../../../storage/lmdb/auth-records.ts';
import type { User } from '../../../storage/lmdb/records.ts';

/** What a user must do before a sign-in leads to a code. */
export type MissingStep = 'second-factor' | 'new-password' | 'enrolment';

/** What a sign-in still lacks; `undefined` once it is complete. */
export function missingStep(
  reader: Pick<Reader, 'get' | 'keys'>,
  user: User,
  authentication: Authentication,
): MissingStep | undefined {
  const lacking = lackingFactor(reader, user, authentication);
  // A password alone must not change the password of a user who has a second factor.
  if (lacking === 'second-factor') return lacking;
  const isTemporary = authentication.factors.includes('password') && hasTemporaryPassword(user);
  return isTemporary ? 'new-password' : lacking;
}

/**
 * Whether a sign-in needs a second factor: if the policy demands one, or the user has an authenticator app. A passkey alone is
 * another way to sign in, and not asked for after a password.
 */
export function lackingFactor(
  reader: Pick<Reader, 'get' | 'keys'>,
  user: User,
  authentication: Authentication,
): 'second-factor' | 'enrolment' | undefined {
  if (isTwoFactors(authentication)) return undefined;
  const own = secondFactorsOf(reader, user.id);
  if (own.includes('totp')) return 'second-factor';
  if (!demandsSecondFactor(reader, user)) return undefined;
  return own.length > 0 ? 'second-factor' : 'enrolment';
}

/** A passkey with user verification counts as two factors, and so does the sign-in at a provider that is trusted with both. */
function isTwoFactors({ factors, provider }: Authentication): boolean {
  const single = ['password', 'invitation', ...(provider?.isOneFactor ? ['provider'] : [])];
  return factors.some((factor) => !single.includes(factor));
}
