import { hashSecret, matchesHash, type RandomBytes } from '../../accounts/secrets.ts';
import { type HostCookie, hostCookie } from '../../auth/console/host-cookie.ts';
import { cookiesOf } from '../../http/cookies.ts';
import type { Request } from '../../http/types.ts';

/**
 * An attempt to sign in, between the sign-in page's request and its answer. A browser has a cookie for each of its attempts,
 * so that two tabs can sign in at once. The cookie holds a secret, and everything else is made of it: the `state` (RFC 6749
 * §10.12) and the PKCE verifier (RFC 7636 §4.1), of which a URL only ever shows hashes.
 */
export interface Attempt {
  readonly id: string;
  readonly secret: string;
  /** Where the user goes afterwards: a path of the console's origin. */
  readonly returnTo: string;
}

/** How long the sign-in page may stay open, seconds. */
const lifetime = 3600;

/** A browser's attempts at the most: more would fill the head of its requests. */
const most = 24;

const stateForm = /^([\w-]{11})\.([0-9a-f]{64})\.([\w-]+)$/;

/** Begins an attempt: an id of 64 random bits, and a secret of 256. */
export function newAttempt(randomBytes: RandomBytes, returnTo: string): Attempt {
  const part = (size: number) => Buffer.from(randomBytes(size)).toString('base64url');
  return { id: part(8), secret: part(32), returnTo };
}

/** The `state` of an attempt: which one it is, that it is this browser's, and where it leads. */
export function stateOf(attempt: Attempt): string {
  const returnTo = Buffer.from(attempt.returnTo).toString('base64url');
  return `${attempt.id}.${hashSecret(bound(attempt))}.${returnTo}`;
}

/** The PKCE verifier of an attempt. */
export function verifierOf({ secret }: Attempt): string {
  return hashSecret(`verifier.${secret}`);
}

/** The attempt of this browser that a `state` was made for; `undefined` when there is none. */
export function findAttempt(
  baseUrl: string,
  request: Pick<Request, 'header'>,
  state: string,
): Attempt | undefined {
  const [, id = '', hash = '', encoded = ''] = stateForm.exec(state) ?? [];
  const returnTo = Buffer.from(encoded, 'base64url').toString();
  const cookie = attemptCookie(baseUrl, id);
  for (const [sent, secret] of cookiesOf(request)) {
    const attempt = { id, secret, returnTo };
    if (sent === cookie.name && matchesHash(bound(attempt), hash)) return attempt;
  }
  return undefined;
}

/** The values of `Set-Cookie` for a new attempt. The oldest ones make room for it. */
export function startingCookies(
  baseUrl: string,
  request: Pick<Request, 'header'>,
  { id, secret }: Attempt,
): readonly string[] {
  const prefix = `${attemptCookie(baseUrl, '').name}-`;
  const open = Array.from(cookiesOf(request), ([sent]) => sent).filter((sent) => sent.startsWith(prefix));
  // A browser sends the oldest first (RFC 6265 §5.4).
  const tooMany = open.slice(0, Math.max(0, open.length - most + 1)).map((sent) => sent.slice(prefix.length));
  return [
    ...tooMany.map((old) => attemptCookie(baseUrl, old).removal),
    attemptCookie(baseUrl, id).write(secret, lifetime),
  ];
}

/** The value of `Set-Cookie` after an attempt. */
export function endingCookie(baseUrl: string, { id }: Attempt): string {
  return attemptCookie(baseUrl, id).removal;
}

/** The answer comes with a navigation that the auth host begins, which may be another site: `Strict` would not be sent. */
function attemptCookie(baseUrl: string, id: string): HostCookie {
  return hostCookie(baseUrl, 'flagmeter-sign-in', 'Lax', id);
}

function bound({ secret, returnTo }: Attempt): string {
  return `state.${secret}.${returnTo}`;
}
