import Type, { type Static } from 'typebox';
import { compiled } from '../runtime/compiled.ts';
import type { User } from '../storage/lmdb/records.ts';
import { accessTokenLifetime, type TokenSettings } from './access-token.ts';
import { signJwt, verifyJwt } from './jwt.ts';

/** The claims that are read from an ID token that comes back as a hint. */
const hint = Type.Object({
  iss: Type.String(),
  sub: Type.String(),
  aud: Type.String(),
  sid: Type.String(),
});
const hintChecker = compiled(hint);

/** Who was signed in to which client (`aud`), and in which session (`sid`). */
export type IdTokenHint = Static<typeof hint>;

/** What an ID token says of a sign-in. */
export interface SignedIn {
  readonly user: User;
  readonly clientId: string;
  /** The session's key. */
  readonly session: string;
  readonly scopes: readonly string[];
  /** Seconds. */
  readonly authTime: number;
  /** As the client sent it with its authorization request, if it did; `null` at a refresh. */
  readonly nonce: string | null;
}

/** Signs an ID token (OpenID Connect Core §2), which is valid for as long as the access token beside it. */
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

/** Reads an ID token that we issued, also when it has expired (OpenID Connect RP-Initiated Logout §2); else `undefined`. */
export async function readIdTokenHint(
  { keys, issuer }: TokenSettings,
  token: string,
): Promise<IdTokenHint | undefined> {
  const atAnyTime = new Date(0);
  const expected = { issuer, requiredClaims: hint.required, currentDate: atAnyTime };
  const claims = await verifyJwt(keys, 'JWT', token, expected);
  return hintChecker().Check(claims) ? claims : undefined;
}
