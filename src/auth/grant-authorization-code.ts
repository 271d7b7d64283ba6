import type { Request } from '../http/types.ts';
import type { OAuthClient } from '../store/records.ts';
import type { TokenSettings } from './access-token.ts';
import { redeemCode } from './codes.ts';
import { type Form, parameter } from './form.ts';
import { OAuthError } from './oauth-error.ts';
import type { SessionDeps } from './sessions.ts';
import type { TokenAnswer } from './token-answer.ts';
import { signUserTokens } from './user-tokens.ts';

/** RFC 6749 §4.1.3 with PKCE (RFC 7636 §4.5): a code is exchanged for a session and its first tokens. */
export async function grantAuthorizationCode(
  deps: SessionDeps & TokenSettings,
  { clientId }: OAuthClient,
  form: Form,
  request: Request,
): Promise<TokenAnswer> {
  const presented = {
    code: parameter(form, 'code'),
    clientId,
    redirectUri: parameter(form, 'redirect_uri'),
    verifier: readVerifier(parameter(form, 'code_verifier')),
  };
  const redemption = await redeemCode(deps, presented, request.remoteAddress);
  if (redemption.outcome !== 'exchanged') throw new OAuthError('invalid_grant', 'The code is not valid');
  const { turn, user, nonce } = redemption;
  return signUserTokens(deps, turn, user, { scope: turn.session.scope, nonce });
}

/** @throws {OAuthError} `invalid_request` when it has not the form of RFC 7636 §4.1 */
function readVerifier(text: string): string {
  if (/^[\w.~-]{43,128}$/.test(text)) return text;
  throw new OAuthError('invalid_request', 'code_verifier must be 43 to 128 letters, digits or -._~');
}
