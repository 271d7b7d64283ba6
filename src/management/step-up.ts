import { Challenged } from '../auth/tokens/bearer.ts';
import { isRecentSignIn, maxSignInAge } from '../contract/step-up.ts';
import type { Claims, ManageDeps } from './caller.ts';

/** Requires a new sign-in for a dangerous change (RFC 9470). */
export class SignInTooOld extends Challenged {
  constructor() {
    super(
      'insufficient_user_authentication',
      `This requires a sign-in within the last ${maxSignInAge / 60} minutes: sign in again`,
      `Bearer error="insufficient_user_authentication", max_age="${maxSignInAge}"`,
    );
  }
}

/**
 * Checks that the user of a token has signed in recently. API keys are exempt. A refreshed token has the time of the sign-in.
 * @throws {SignInTooOld}
 */
export function checkRecentSignIn({ directory, authTimeOf }: ManageDeps, claims: Claims): void {
  if (claims.sub === claims.client_id) return;
  const authTime = authTimeOf(claims);
  if (authTime === undefined || !isRecentSignIn(authTime, directory.clock.now())) throw new SignInTooOld();
}
