import type { Static, TObject, TSchema } from 'typebox';
import Value from 'typebox/value';
import { hashSecret, matchesHash } from '../../accounts/secrets.ts';
import { cookiesOf } from '../../http/pairs.ts';
import type { Request } from '../../http/types.ts';
import { appendMac, type MacKeys, type MacPurpose, readMac } from '../oauth/keys/mac.ts';
import { type Browser, BrowserCookie } from './browser.ts';
import { type HostCookie, hostCookie } from './host-cookie.ts';

/** Maximum time of a user at a provider. */
const lifetimeSeconds = 600;
/** A browser discards a longer cookie. */
const longestCookie = 3800;

/** The part that every cookie has. */
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
  /** Maximum number of cookies of a browser, so that they fit into a request. */
  readonly slots: number;
}

/**
 * A cookie that a browser keeps while its user is at a provider. Anyone may start a round trip, so its state takes no memory here. Only
 * this service can make such a cookie, and only the browser that it was made for can use it: an HMAC covers all fields and the mark of
 * the browser.
 */
export class RoundTripCookie<Schema extends TObject> {
  readonly #issuer: string;
  readonly #keys: MacKeys;
  readonly #kind: Kind<Schema>;

  /** @param deps `issuer` is the public URL of the auth host */
  constructor(deps: { readonly issuer: string; readonly keys: MacKeys }, kind: Kind<Schema>) {
    this.#issuer = deps.issuer;
    this.#keys = deps.keys;
    this.#kind = kind;
  }

  /** The value of `Set-Cookie`; `undefined` if the value is too long. */
  write({ mark }: Browser, value: Static<Schema> & RoundTrip): string | undefined {
    const text = Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = appendMac(this.#keys, this.#kind.purpose, mark, text);
    if (signed.length > longestCookie) return undefined;
    return this.#cookieFor(value.state).write(signed, lifetimeSeconds);
  }

  /** Removes the cookie: it is used once. */
  remove(state: string): string {
    return this.#cookieFor(state).removal;
  }

  /** The value with this state, if it was made for this browser and has not expired. */
  read(request: Pick<Request, 'header'>, state: string, now: number): Static<Schema> | undefined {
    const browser = new BrowserCookie(this.#issuer).read(request);
    const { name } = this.#cookieFor(state);
    for (const [sent, signed] of browser === undefined ? [] : cookiesOf(request)) {
      if (sent !== name) continue;
      const value = this.#parse(readMac(this.#keys, this.#kind.purpose, browser!.mark, signed));
      if (value === undefined || !matchesHash(state, hashSecret(value.state))) continue;
      if (Math.abs(now - value.startedAt) <= lifetimeSeconds * 1000) return value;
    }
    return undefined;
  }

  /** Another release may have made the value. */
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
