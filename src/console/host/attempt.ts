import { hashSecret, type RandomBytes } from '../../accounts/secrets.ts';
import { type HostCookie, hostCookie } from '../../auth/cookies/host-cookie.ts';
import { isMacOf, type MacKeys, macOf } from '../../auth/oauth/keys/mac.ts';
import { cookiesOf } from '../../http/cookies.ts';
import type { Request } from '../../http/types.ts';

/**
 * A sign-in attempt. A browser has a cookie for each of its attempts, so that two tabs can sign in at once. The `state`
 * (RFC 6749 §10.12) and the PKCE verifier (RFC 7636 §4.1) derive from the secret in the cookie. URLs contain only hashes, and only this
 * service can make a `state`.
 */
export interface Attempt {
  readonly id: string;
  readonly secret: string;
  /** The path of the console's origin to return to. */
  readonly returnTo: string;
}

/** Maximum duration of an attempt, seconds. */
const lifetime = 3600;

/** Maximum number of attempts of a browser: more cookies would exceed the size of its requests. */
const maxAttempts = 24;

/** 256 bits, base64url. */
const secretLength = 43;

const purpose = 'sign-ins to the console';

const stateForm = /^([\w-]{11})\.([0-9a-f]{64})\.([\w-]+)$/;

/** Starts an attempt with an id of 64 random bits and a secret of 256. */
export function newAttempt(randomBytes: RandomBytes, returnTo: string): Attempt {
  const part = (size: number) => Buffer.from(randomBytes(size)).toString('base64url');
  return { id: part(8), secret: part(32), returnTo };
}

/** The `state` of an attempt: its id, a code for the cookie and the path, and the path to return to. */
export function stateOf(keys: MacKeys, { id, secret, returnTo }: Attempt): string {
  const code = macOf(keys, purpose, id, secret, returnTo).toString('hex');
  return `${id}.${code}.${Buffer.from(returnTo).toString('base64url')}`;
}

/** The PKCE verifier of an attempt. */
export function verifierOf({ secret }: Attempt): string {
  return hashSecret(`verifier.${secret}`);
}

/** The attempt of this browser with a `state`, if any. */
export function findAttempt(
  { audience, keys }: { readonly audience: string; readonly keys: MacKeys },
  request: Pick<Request, 'header'>,
  state: string,
): Attempt | undefined {
  const [, id = '', code = '', encoded = ''] = stateForm.exec(state) ?? [];
  const returnTo = Buffer.from(encoded, 'base64url').toString();
  const cookie = attemptCookie(audience, id);
  const found = Buffer.from(code, 'hex');
  for (const [sent, secret] of cookiesOf(request)) {
    if (sent !== cookie.name || secret.length !== secretLength) continue;
    if (isMacOf(found, keys, purpose, id, secret, returnTo)) return { id, secret, returnTo };
  }
  return undefined;
}

/** The values of `Set-Cookie` for a new attempt. Removes the oldest ones beyond the maximum. */
export function startingCookies(
  baseUrl: string,
  request: Pick<Request, 'header'>,
  { id, secret }: Attempt,
): readonly string[] {
  const prefix = `${attemptCookie(baseUrl, '').name}-`;
  const open = Array.from(cookiesOf(request), ([sent]) => sent).filter((sent) => sent.startsWith(prefix));
  // A browser sends the oldest first (RFC 6265 §5.4).
  const tooMany = open
    .slice(0, Math.max(0, open.length - maxAttempts + 1))
    .map((sent) => sent.slice(prefix.length));
  return [
    ...tooMany.map((old) => attemptCookie(baseUrl, old).removal),
    attemptCookie(baseUrl, id).write(secret, lifetime),
  ];
}

/** The value of `Set-Cookie` that ends an attempt. */
export function endingCookie(baseUrl: string, { id }: Attempt): string {
  return attemptCookie(baseUrl, id).removal;
}

/** `Lax`, since the auth host may be another site: it starts the navigation to the callback, without `Strict` cookies. */
function attemptCookie(baseUrl: string, id: string): HostCookie {
  return hostCookie(baseUrl, 'flagmeter-sign-in', 'Lax', id);
}
