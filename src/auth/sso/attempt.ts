import Type, { type Static } from 'typebox';
import type { RandomBytes } from '../../accounts/secrets.ts';
import type { IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import { RoundTripCookie } from '../cookies/round-trip-cookie.ts';
import type { MacKeys } from '../oauth/keys/mac.ts';

/** The pages that a sign-in can continue. */
export const pages = [
  ...(['authorize', 'device', 'invitation', 'passkey', 'authenticator', 'identities'] as const),
] as const;

const secret = Type.String({ pattern: '^[\\w-]{43}$' });

/** An attempt to sign in with a provider, or to link an account there. It is kept in a cookie only. */
const Attempt = Type.Object({
  provider: Type.String(),
  state: secret,
  nonce: secret,
  /** The PKCE verifier. */
  verifier: secret,
  /** Maximum time since the user signed in at the provider, seconds; `null` for no limit. */
  maxAge: Type.Union([Type.Null(), Type.Integer()]),
  /** The page that continues. */
  page: Type.Enum(pages),
  /** Its query. */
  query: Type.String(),
  /** The secret of an invitation or a reset link, whose user the account is linked to. */
  link: Type.Optional(Type.String()),
  /** The key of the browser's sign-in, to whose user the account is linked. */
  linkTo: Type.Optional(Type.String()),
  /** Unix milliseconds. */
  startedAt: Type.Integer(),
});
export type Attempt = Static<typeof Attempt>;
export type AttemptPage = Attempt['page'];

/** The address that starts a sign-in with a provider, relative to the pages of the auth host. */
export function startLink({ id }: Pick<IdentityProvider, 'id'>, page: AttemptPage, query: string): string {
  return `providers/${encodeURIComponent(id)}/start?${new URLSearchParams({ page, query })}`;
}

/** Random values for a new attempt. */
export function newBinding(randomBytes: RandomBytes): Pick<Attempt, 'state' | 'nonce' | 'verifier'> {
  const value = () => Buffer.from(randomBytes(32)).toString('base64url');
  return { state: value(), nonce: value(), verifier: value() };
}

/** The cookies of attempts: several tabs can sign in at once. */
export function attemptCookie(deps: { readonly issuer: string; readonly keys: MacKeys }) {
  const kind = {
    name: 'flagmeter-sso',
    purpose: 'attempts at providers',
    schema: Attempt,
    slots: 3,
  } as const;
  return new RoundTripCookie(deps, kind);
}
