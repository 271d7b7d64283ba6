/** Longest origin that is looked at: a DNS name has 253 characters. */
const longest = 300;

/** scheme "://" host [":" port], and nothing after it (RFC 6454 §6.2). */
const shape = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[^\s/?#@:\\[\]%*]+)(?::(\d{1,5}))?$/i;

/**
 * Whether a text can stand in `allowedOrigins`: an origin such as `https://example.com:8443`, or one with
 * `*.` before its host for any subdomain. No path, not even `/`.
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

/** Whether it is not several origins: repeated headers are joined with commas, which no origin holds. */
export function isOneOrigin(header: string): boolean {
  return !header.includes(',');
}

interface Wildcard {
  /** `https://` */
  readonly start: string;
  /** `.example.com`, with `:port` when it is not the default. */
  readonly end: string;
}

function matchesWildcard(origin: string, { start, end }: Wildcard): boolean {
  return origin.length > start.length + end.length && origin.startsWith(start) && origin.endsWith(end);
}

function parsePattern(pattern: string): string | Wildcard | undefined {
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
