import { hasPortZero } from '../contract/port-zero.ts';

/** In characters. */
const longest = 1024;

/** The characters of a URI (RFC 3986 §2), without `#`: a redirect URI has no fragment (RFC 6749 §3.1.2). */
const characters = /^[\w.~:/?[\]@!$&'()*+,;=%-]+$/;

/** A web address whose host is a name or an IPv4 address; no user, no wildcard. */
const web = /^https:\/\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?(?:[/?]|$)/i;

/** A loopback address (RFC 8252 §7.3): before the port, the port, and the rest. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/;

/** Names of the local machine. They may resolve to another host, so the port is not arbitrary (RFC 8252 §8.3). */
const localhost = /^http:\/\/localhost(?::\d{1,5})?(?:[/?]|$)/;

/** A private-use scheme, named after a domain of the app's maker (RFC 8252 §7.1). */
const privateUse = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\/?\/?[^/]/;

/**
 * Whether a text can be registered as a redirect URI: `https:`, `http:` to the local machine, or a private-use scheme with a
 * dot.
 */
export function isRedirectUri(uri: string): boolean {
  if (uri.length > longest || !characters.test(uri) || !URL.canParse(uri)) return false;
  if (hasPortZero(uri)) return false;
  return [web, loopback, localhost, privateUse].some((form) => form.test(uri)) && isWellEscaped(uri);
}

/**
 * Whether a request's redirect URI matches this registered one. They must be equal, except for the port of a loopback address,
 * which an app chooses at run time (RFC 8252 §7.3).
 */
export function isSameRedirect(registered: string, uri: string): boolean {
  if (registered === uri) return true;
  const own = loopback.exec(registered);
  const asked = loopback.exec(uri);
  return own !== null && asked !== null && own[1] === asked[1] && own[3] === asked[3] && isPort(asked[2]);
}

function isPort(digits: string | undefined): boolean {
  return digits === undefined || (Number(digits) > 0 && Number(digits) <= 65_535);
}

function isWellEscaped(uri: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(uri);
}

/**
 * Whether only one site can receive the redirect. Any program can listen on a loopback port, and any app can claim a scheme
 * (RFC 8252 §8.6).
 */
export function isOfKnownReceiver(uri: string): boolean {
  return web.test(uri);
}
