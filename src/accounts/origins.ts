import { hasPortZero } from '../contract/port-zero.ts';

/** Maximum length of an origin: a DNS name has at most 253 characters. */
const longest = 300;

/** scheme "://" host [":" port], and nothing after it (RFC 6454 §6.2). */
const shape = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[^\s/?#@:\\[\]%*]+)(?::(\d{1,5}))?$/i;

/** The origin of sandboxed pages and of files (HTML, section 7.1.1, opaque origins). */
const opaque = 'null';

/** An origin of the local machine with `:*` in place of a port, for pages in development. */
const anyPort = /^(https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\*$/i;

/** Removes the trailing slash from an origin pattern, as copied from an address bar. */
export function withoutSlash(pattern: string): string {
  return pattern.endsWith('/') ? pattern.slice(0, -1) : pattern;
}

/**
 * True if a text is valid in `allowedOrigins`: an origin such as `https://example.com:8443`, an origin with `*.` before
 * its host for any subdomain, `http://localhost:*` for any port, or `null`. Paths are not allowed.
 */
export function isOriginPattern(pattern: string): boolean {
  return parsePattern(pattern) !== undefined;
}

/**
 * Returns a function that is true for each `Origin` header that the patterns allow. An empty list allows any single
 * origin, and `null`. Scheme, host and port are compared; a default port equals a missing port. An invalid pattern
 * matches nothing.
 */
export function originMatcher(patterns: readonly string[]): (origin: string) => boolean {
  if (patterns.length === 0) return isOneOrigin;
  const exact = new Set<string>();
  const wildcards: Wildcard[] = [];
  for (const pattern of patterns) {
    const parsed = parsePattern(pattern);
    if (typeof parsed === 'string') exact.add(parsed);
    else if (parsed) wildcards.push(parsed);
  }
  return (origin) => {
    if (exact.has(origin)) return true;
    const canonical = canonicalOrigin(origin);
    return (
      canonical !== undefined &&
      (exact.has(canonical) || wildcards.some((wildcard) => matchesWildcard(canonical, wildcard)))
    );
  };
}

function patternThatAllows(patterns: readonly string[], origin: string): string | undefined {
  return patterns.find((pattern) => originMatcher([pattern])(origin));
}

/** True if a header contains one origin. Repeated headers are joined with commas, which an origin cannot contain. */
export function isOneOrigin(header: string): boolean {
  return !header.includes(',');
}

type Wildcard =
  /** `start` is `https://`. `end` is `.example.com`, with `:port` unless the port is the default. */
  | { readonly start: string; readonly end: string }
  /** `http://localhost`, with or without a port. */
  | { readonly host: string };

function matchesWildcard(origin: string, wildcard: Wildcard): boolean {
  if ('host' in wildcard) return origin === wildcard.host || origin.startsWith(`${wildcard.host}:`);
  const { start, end } = wildcard;
  return origin.length > start.length + end.length && origin.startsWith(start) && origin.endsWith(end);
}

function parsePattern(pattern: string): string | Wildcard | undefined {
  if (pattern === opaque) return opaque;
  const host = anyPort.exec(pattern)?.[1];
  return host === undefined ? parseOrigin(pattern) : { host: host.toLowerCase() };
}

function parseOrigin(pattern: string): string | Wildcard | undefined {
  const star = pattern.indexOf('://*.');
  if (star === -1) return canonicalOrigin(pattern);
  const apex = canonicalOrigin(`${pattern.slice(0, star)}://${pattern.slice(star + '://*.'.length)}`);
  if (apex === undefined) return undefined;
  const hostAt = apex.indexOf('://') + '://'.length;
  const host = apex.slice(hostAt);
  // An IP address has no subdomains, and the first label of a name must not be empty.
  if (/^(\.|\[|[\d.]+(:|$))/.test(host)) return undefined;
  return { start: apex.slice(0, hostAt), end: `.${host}` };
}

/** An origin as a browser would write it: lower case, ASCII host, no default port. */
function canonicalOrigin(text: string): string | undefined {
  if (text.length > longest || hasPortZero(text)) return undefined;
  const parts = shape.exec(text);
  if (!parts) return undefined;
  const scheme = (parts[1] ?? '').toLowerCase();
  if (Number(parts[3] ?? 0) > 65_535) return undefined;
  if (scheme !== 'http' && scheme !== 'https') return text.toLowerCase();
  try {
    return new URL(text).origin;
  } catch {
    return undefined;
  }
}

interface OriginVerdict {
  readonly allowed: boolean;
  /** The pattern that allows the origin. */
  readonly by: string | null;
  /** Reason in words, for people. */
  readonly why: string;
}

/**
 * Determines if packets with an origin are admitted. Also returns the pattern that allows the origin, or the reason.
 */
export function judgeOrigin(patterns: readonly string[], origin: string): OriginVerdict {
  const allowed = originMatcher(patterns)(origin);
  const by = patternThatAllows(patterns, origin) ?? null;
  if (by !== null) return { allowed, by, why: `${by} allows it.` };
  if (allowed) return { allowed, by, why: 'The application does not restrict origins, so every page may send.' };
  return { allowed, by, why: whyNot(patterns, origin) };
}

function whyNot(patterns: readonly string[], origin: string): string {
  if (!isOneOrigin(origin)) return 'The value contains several origins. A browser sends exactly one.';
  if (origin === 'null') return 'Sandboxed pages and files send null. Add null to accept their packets.';
  const asSent = originIn(origin);
  if (asSent === undefined)
    return 'This is not an origin. An origin is a scheme, a host and an optional port: https://shop.example or http://localhost:3000.';
  if (asSent !== origin.toLowerCase())
    return `A browser sends this origin in another form: ${asSent}. Check that form instead.`;
  for (const pattern of patterns) {
    const difference = differenceBetween(pattern, asSent);
    if (difference !== undefined) return difference;
  }
  return `${asSent} is not among the ${patterns.length} allowed origins. If its pages are yours, add the origin.`;
}

function originIn(text: string): string | undefined {
  const { origin = 'null', protocol = '', host = '' } = parseUrl(text) ?? {};
  if (origin !== 'null') return origin;
  return host === '' ? undefined : `${protocol}//${host}`;
}

/** Describes the difference between an origin and an almost matching pattern; `undefined` for other patterns. */
function differenceBetween(pattern: string, origin: string): string | undefined {
  const { protocol, hostname, port } = new URL(origin);
  const [, scheme, subdomains, host, allowedPort = ''] = parts.exec(pattern.toLowerCase()) ?? [];
  if (host === undefined) return undefined;
  const isSubdomain = hostname.endsWith(`.${host}`);
  if (hostname !== host && !isSubdomain) return undefined;
  if (isSubdomain && subdomains === undefined)
    return `${pattern} is allowed, but not its subdomains. ${scheme}//*.${host} allows them.`;
  if (!isSubdomain && subdomains !== undefined)
    return `${pattern} allows the subdomains of ${host}, but not ${host} itself: add ${origin}, too.`;
  if (scheme !== protocol) return `${pattern} is allowed, but only with ${scheme}//, not with ${protocol}//.`;
  if (allowedPort !== port) return `${pattern} is allowed, but the port differs.`;
  return undefined;
}

/** Matches the scheme, `*.`, host and port of a pattern. */
const parts = /^([a-z][a-z0-9+.-]*:)\/\/(\*\.)?([^:/]+|\[[^\]]+\])(?::(\d+|\*))?$/;

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
