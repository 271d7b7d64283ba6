import type { OAuthClient, User } from '../store/records.ts';
import { commit } from '../store/transact.ts';
import type { TokenSettings } from './access-token.ts';
import type { Allowance, DeviceCodes } from './device-codes.ts';
import { type Form, parameter } from './form.ts';
import { OAuthError } from './oauth-error.ts';
import { type SessionDeps, signedInUser, startSession, type Turn } from './sessions.ts';
import { isOf } from './sign-ins.ts';
import type { TokenAnswer } from './token-answer.ts';
import { signUserTokens } from './user-tokens.ts';

export const deviceCodeGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8628 §3.4: a device polls until its user has decided, and then gets a session, once. */
export async function grantDeviceCode(
  parts: SessionDeps & TokenSettings & { readonly devices: DeviceCodes },
  { clientId }: OAuthClient,
  form: Form,
): Promise<TokenAnswer> {
  const poll = parts.devices.poll(parameter(form, 'device_code'), clientId);
  switch (poll.outcome) {
    case 'pending':
      throw new OAuthError('authorization_pending', 'The user has not decided yet');
    case 'too-soon':
      throw new OAuthError('slow_down', 'Wait five seconds longer between two requests from now on');
    case 'denied':
      throw new OAuthError('access_denied', 'The user refused');
    case 'expired':
      throw new OAuthError('expired_token', 'The device code has expired; begin again');
    case 'unknown':
      throw new OAuthError('invalid_grant', 'The device code is not valid');
  }
  const { turn, user } = start(parts, clientId, poll.allowance);
  poll.take(); // There was no await since the poll: of two polls at once only one gets tokens.
  return signUserTokens(parts, turn, user, { scope: turn.session.scope, nonce: null });
}

/** @throws {OAuthError} `access_denied` when the user has signed out since, or may not do it any more */
function start(
  parts: SessionDeps,
  clientId: string,
  allowance: Allowance,
): { readonly turn: Turn; readonly user: User } {
  const { accounts, directory, health } = parts;
  return commit(accounts.lmdb, health, () => {
    const user = signedInUser(directory, { userId: allowance.userId, clientId });
    const signIn = accounts.signIns.get(allowance.signIn);
    if (user === undefined || signIn === undefined || !isOf(signIn, user))
      throw new OAuthError('access_denied', 'The user has signed out again');
    return { turn: startSession(parts, { ...allowance, clientId }), user };
  });
}
