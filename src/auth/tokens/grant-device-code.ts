import Type from 'typebox';
import { text } from '../../contract/shapes/fields.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { type ClientForm, clientForm } from '../clients/client-endpoint.ts';
import { signInClientOf } from '../clients/clients.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import type { DeviceCodes } from '../devices/device-codes.ts';
import { type SessionDeps, signedInUser, startSession, type Turn } from '../sessions.ts';
import { isOf } from '../sign-in/sign-ins.ts';
import type { TokenSettings } from './access-token.ts';
import { signUserTokens, type TokenAnswer } from './token-answer.ts';

export const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8628 §3.4: a device polls until its user has decided, and then gets a session once. */
export const deviceCodeGrant: ClientForm<TokenAnswer, DeviceGrantDeps> = clientForm({
  by: signInClientOf,
  fields: { grant_type: Type.Literal(deviceCodeGrantType), device_code: text('The device code.') },
  handle: ({ client, fields }, deps) => poll(deps, client.clientId, fields.device_code),
});

/** The refusals of a poll (RFC 8628 §3.5). */
export const pollRefusals = {
  authorization_pending: 'The user has not decided yet',
  slow_down: 'Wait five seconds longer between polls from now on',
  access_denied: 'The user refused',
  expired_token: 'The device code has expired; start again',
} as const;

function refusal(code: keyof typeof pollRefusals): OAuthError {
  return new OAuthError(code, pollRefusals[code]);
}

type DeviceGrantDeps = SessionDeps & TokenSettings & { readonly devices: DeviceCodes };

async function poll(deps: DeviceGrantDeps, clientId: string, deviceCode: string): Promise<TokenAnswer> {
  const poll = deps.devices.poll(deviceCode, clientId);
  switch (poll.outcome) {
    case 'pending':
      throw refusal('authorization_pending');
    case 'too-soon':
      throw refusal('slow_down');
    case 'denied':
      throw refusal('access_denied');
    case 'expired':
      throw refusal('expired_token');
    case 'unknown':
      throw invalidCode();
  }
  const { turn, user } = await start(deps, clientId, deviceCode);
  return signUserTokens(deps, turn, user, { scope: turn.session.scope, nonce: null });
}

/**
 * Starts the session. Of two concurrent polls, one gets it.
 * @throws {OAuthError} `access_denied` if the user has signed out or lost access to the client
 */
function start(
  deps: DeviceGrantDeps,
  clientId: string,
  deviceCode: string,
): Promise<{ readonly turn: Turn; readonly user: User }> {
  return deps.directory.change((draft) => {
    const allowance = deps.devices.take(draft, deviceCode, clientId);
    if (allowance === undefined) throw invalidCode();
    const user = signedInUser(draft, { userId: allowance.userId, clientId });
    const signIn = draft.get('signIns', allowance.signIn);
    if (user === undefined || signIn === undefined || !isOf(signIn, user))
      throw new OAuthError('access_denied', 'The user has signed out');
    return { turn: startSession(deps, draft, { ...allowance, clientId }), user };
  });
}

function invalidCode(): OAuthError {
  return new OAuthError('invalid_grant', 'The device code is not valid');
}
