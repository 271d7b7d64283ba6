import Type, { type Static, type TObject, type TSchema } from 'typebox';
import Value from 'typebox/value';
import { hashSecret, matchesHash, type RandomBytes } from '../../accounts/secrets.ts';
import { readCookies } from '../../http/pairs.ts';
import type { Request } from '../../http/types.ts';
import type { IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import { type Browser, BrowserCookie } from '../cookies/browser.ts';
import { type HostCookie, hostCookie } from '../cookies/host-cookie.ts';
import { appendMac, type MacKeys, type MacPurpose, readMac } from '../oauth/mac.ts';
import type { Services } from '../oauth/services.ts';

/** Maximum time that a user can spend at a provider. */
const lifetimeSeconds = 600;
/** Maximum size of a cookie. A browser discards a longer cookie. */
const longestCookie = 3800;

/** Fields of every round trip cookie. */
interface RoundTrip {
  /** The `state` of the request to the provider. */
  readonly state: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

interface Kind<Schema extends TSchema> {
  readonly name: string;
  readonly purpose: MacPurpose;
  readonly schema: Schema;
  /** Maximum number of cookies in a browser. All of them must fit into a request. */
  readonly slots: number;
}

/**
 * A cookie that a browser keeps while its user is at a provider. Anyone can start a round trip, so its state is not
 * kept in memory. The cookie contains an HMAC of all fields and the browser's `permanentId`. Therefore only this
 * service can create the cookie, and only the same browser can use it.
 */
export class RoundTripCookie<Schema extends TObject> {
  readonly #issuer: string;
  readonly #keys: MacKeys;
  readonly #kind: Kind<Schema>;

  /** @param services `issuer` is the public URL of the auth host */
  constructor(services: Pick<Services, 'issuer' | 'keys'>, kind: Kind<Schema>) {
    this.#issuer = services.issuer;
    this.#keys = services.keys;
    this.#kind = kind;
  }

  /** The value of `Set-Cookie`; `undefined` if it is too long for a cookie. */
  write({ permanentId }: Browser, value: Static<Schema> & RoundTrip): string | undefined {
    const text = Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = appendMac(this.#keys, this.#kind.purpose, permanentId, text);
    if (signed.length > longestCookie) return undefined;
    return this.#cookieFor(value.state).write(signed, lifetimeSeconds);
  }

  /** The value of `Set-Cookie` that removes the cookie, which can be used only once. */
  remove(state: string): string {
    return this.#cookieFor(state).removal;
  }

  /** The value of the cookie with this state; `undefined` if it is missing, expired, or made for another browser. */
  read(request: Pick<Request, 'header'>, state: string, now: number): Static<Schema> | undefined {
    const browser = new BrowserCookie(this.#issuer).read(request);
    const { name } = this.#cookieFor(state);
    for (const [sent, signed] of browser === undefined ? [] : readCookies(request)) {
      if (sent !== name) continue;
      const value = this.#parse(readMac(this.#keys, this.#kind.purpose, browser!.permanentId, signed));
      if (value === undefined || !matchesHash(state, hashSecret(value.state))) continue;
      if (Math.abs(now - value.startedAt) <= lifetimeSeconds * 1000) return value;
    }
    return undefined;
  }

  /** Parses a value; `undefined` if invalid, for example from another release. */
  #parse(text: string | undefined): (Static<Schema> & RoundTrip) | undefined {
    if (text === undefined) return undefined;
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Value.Check(this.#kind.schema, value) ? (value as Static<Schema> & RoundTrip) : undefined;
  }

  #cookieFor(state: string): HostCookie {
    const { name, slots } = this.#kind;
    return hostCookie(this.#issuer, name, 'Lax', String((state.codePointAt(0) ?? 0) % slots));
  }
}

export const pages = [
  ...(['authorize', 'device', 'invitation', 'passkey', 'authenticator', 'identities'] as const),
] as const;

const secret = Type.String({ pattern: '^[\\w-]{43}$' });

/** An attempt to sign in with a provider, or to link an account there. It is kept only in a cookie. */
const Attempt = Type.Object({
  provider: Type.String(),
  state: secret,
  nonce: secret,
  /** The PKCE verifier. */
  verifier: secret,
  /** Maximum time since the user signed in at the provider, seconds; `null` for no limit. */
  maxAge: Type.Union([Type.Null(), Type.Integer()]),
  page: Type.Enum(pages),
  query: Type.String(),
  /** The secret of an invitation or a reset link. The account is linked to the user of the link. */
  link: Type.Optional(Type.String()),
  /** The key of the browser's sign-in. The account is linked to the user of the sign-in. */
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

export function newBinding(randomBytes: RandomBytes): Pick<Attempt, 'state' | 'nonce' | 'verifier'> {
  const value = () => Buffer.from(randomBytes(32)).toString('base64url');
  return { state: value(), nonce: value(), verifier: value() };
}

/** The cookies of attempts. There are several slots, so that several tabs can sign in concurrently. */
export function attemptCookie(services: Pick<Services, 'issuer' | 'keys'>) {
  const kind = { name: 'flagmeter-sso', purpose: 'attempts at providers', schema: Attempt, slots: 3 } as const;
  return new RoundTripCookie(services, kind);
}
