import Type, { type Static } from 'typebox';
import { compiled } from '../../../runtime/compiled.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import { signJwt, verifyJwt } from '../keys/jwt.ts';
import { accessTokenLifetime } from '../keys/signing-keys.ts';
import type { TokenSettings } from './access-token.ts';

/** The claims read from an ID token that is used as a hint. */
const hint = Type.Object({
  iss: Type.String(),
  sub: Type.String(),
  aud: Type.String(),
  sid: Type.String(),
});
const hintChecker = compiled(hint);

/** The user, the client (`aud`) and the session (`sid`). */
export type IdTokenHint = Static<typeof hint>;

/** The content of an ID token. */
interface SignedIn {
  readonly user: User;
  readonly clientId: string;
  /** The session's key. */
  readonly session: string;
  readonly scopes: readonly string[];
  /** Seconds. */
  readonly authTime: number;
  /** As in the client's authorization request; `null` if absent, and at a refresh. */
  readonly nonce: string | null;
}

/** Signs an ID token (OpenID Connect Core §2). It has the lifetime of the access token. */
export function issueIdToken(settings: TokenSettings, signedIn: SignedIn): Promise<string> {
  const { user, clientId, session, scopes, authTime, nonce } = signedIn;
  const iat = Math.floor(settings.clock.now() / 1000);
  return signJwt(settings.keys, 'JWT', {
    iss: settings.issuer,
    sub: user.id,
    aud: clientId,
    iat,
    exp: iat + accessTokenLifetime,
    auth_time: authTime,
    ...(nonce === null ? {} : { nonce }),
    sid: session,
    ...(scopes.includes('email') ? emailClaims(user) : {}),
  });
}

/** The claims of the scope `email` (OpenID Connect Core §5.4). Addresses are never verified. */
export function emailClaims({ email }: User): { readonly email: string; readonly email_verified: false } {
  return { email, email_verified: false };
}

/**
 * Reads an ID token that we issued, even if it has expired (OpenID Connect RP-Initiated Logout §2); else returns `undefined`.
 */
export async function readIdTokenHint(
  { keys, issuer }: TokenSettings,
  token: string,
): Promise<IdTokenHint | undefined> {
  const atAnyTime = new Date(0);
  const expected = { issuer, requiredClaims: hint.required, currentDate: atAnyTime };
  const claims = await verifyJwt(keys, 'JWT', token, expected);
  return hintChecker().Check(claims) ? claims : undefined;
}
