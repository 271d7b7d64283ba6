import Type from 'typebox';
import { text } from '../../contract/shapes/fields.ts';
import { redeemCode } from '../authorize/codes.ts';
import { type ClientForm, clientForm } from '../clients/client-endpoint.ts';
import { signInClientOf } from '../clients/clients.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import { type SessionDeps, startSession } from '../sessions.ts';
import type { TokenSettings } from './access-token.ts';
import { signUserTokens, type TokenAnswer } from './token-answer.ts';

export const invalidCode = 'The code is not valid';

/** RFC 6749 §4.1.3 with PKCE (RFC 7636 §4.5): a code is exchanged for a session and its first tokens. */
export const authorizationCodeGrant: ClientForm<TokenAnswer, SessionDeps & TokenSettings> = clientForm({
  by: signInClientOf,
  fields: {
    grant_type: Type.Literal('authorization_code'),
    code: text('The code from the redirect.'),
    redirect_uri: text('The redirect URI of the authorization request.'),
    code_verifier: Type.String({
      pattern: '^[\\w.~-]{43,128}$',
      description: '43 to 128 letters, digits or -._~',
    }),
  },
  async handle({ client: { clientId }, fields, request }, deps) {
    const presented = {
      code: fields.code,
      clientId,
      redirectUri: fields.redirect_uri,
      verifier: fields.code_verifier,
    };
    const redemption = await redeemCode(deps, presented, request.remoteAddress, startSession);
    if (redemption.outcome !== 'exchanged') throw new OAuthError('invalid_grant', invalidCode);
    const { turn, user, nonce } = redemption;
    return signUserTokens(deps, turn, user, { scope: turn.session.scope, nonce });
  },
});
