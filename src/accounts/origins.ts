/** Longest origin that is looked at: a DNS name has 253 characters. */
const longest = 300;

/** scheme "://" host [":" port], and nothing after it (RFC 6454 §6.2). */
const shape = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[^\s/?#@:\\[\]%*]+)(?::(\d{1,5}))?$/i;

/** The origin of sandboxed pages and of files (HTML, section 7.1.1, opaque origins). */
const opaque = 'null';

/** One's own machine, where a developer's page may have any port: ends with `:*`. */
const anyPort = /^(https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\*$/i;

/** An origin pattern as it was entered, without the slash that an address bar shows after it. */
export function withoutSlash(pattern: string): string {
  return pattern.endsWith('/') ? pattern.slice(0, -1) : pattern;
}

/**
 * Whether a text can stand in `allowedOrigins`: an origin such as `https://example.com:8443`, one with `*.` before its
 * host for any subdomain, `http://localhost:*` for any port, or `null`. No path.
 */
export function isOriginPattern(pattern: string): boolean {
  return parsePattern(pattern) !== undefined;
}

/**
 * A function that tells whether an `Origin` header is let through by these patterns. No pattern at all lets
 * everything through that is one origin, or `null`. Compares scheme, host and port; a default port is the same as none; a pattern that is
 * not valid matches nothing.
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

/** The first of some patterns that lets an origin through, by the matching of `originMatcher`. */
export function patternThatAllows(patterns: readonly string[], origin: string): string | undefined {
  return patterns.find((pattern) => originMatcher([pattern])(origin));
}

/** Whether it is not several origins: repeated headers are joined with commas, which no origin holds. */
export function isOneOrigin(header: string): boolean {
  return !header.includes(',');
}

type Wildcard =
  /** `https://`, and `.example.com`, with `:port` when it is not the default. */
  | { readonly start: string; readonly end: string }
  /** `http://localhost`, with any port or none. */
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
  // An address has no subdomains, and a name with an empty first label is none.
  if (/^(\.|\[|[\d.]+(:|$))/.test(host)) return undefined;
  return { start: apex.slice(0, hostAt), end: `.${host}` };
}

/** An origin as a browser would write it: lower case, ASCII host, no default port. */
function canonicalOrigin(text: string): string | undefined {
  if (text.length > longest) return undefined;
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
