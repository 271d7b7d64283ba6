import { isOneOrigin, originMatcher, patternThatAllows } from './origins.ts';

/** For people. */
interface OriginVerdict {
  readonly allowed: boolean;
  /** The pattern that allows it. */
  readonly by: string | null;
  /** For people. */
  readonly why: string;
}

/** Decides as the pipeline does, and explains the decision. */
export function judgeOrigin(patterns: readonly string[], origin: string): OriginVerdict {
  const allowed = originMatcher(patterns)(origin);
  const by = patternThatAllows(patterns, origin) ?? null;
  if (by !== null) return { allowed, by, why: `${by} allows it.` };
  if (allowed) return { allowed, by, why: 'The application has no list of origins, so every page may send.' };
  return { allowed, by, why: whyNot(patterns, origin) };
}

function whyNot(patterns: readonly string[], origin: string): string {
  if (!isOneOrigin(origin)) return 'The value contains several origins. A browser sends one.';
  if (origin === 'null') return 'Sandboxed pages and files send null. If they may send packets, add null.';
  const asSent = originIn(origin);
  if (asSent === undefined)
    return 'This is not an origin. An origin is a scheme, a host and an optional port: https://shop.example or http://localhost:3000.';
  if (asSent !== origin.toLowerCase()) return `A browser sends it in another form: ${asSent}. Check that.`;
  for (const pattern of patterns) {
    const difference = differenceBetween(pattern, asSent);
    if (difference !== undefined) return difference;
  }
  return `None of the ${patterns.length} allowed origins is ${asSent}. If its pages are yours, add it.`;
}

function originIn(text: string): string | undefined {
  const { origin = 'null', protocol = '', host = '' } = parseUrl(text) ?? {};
  if (origin !== 'null') return origin;
  return host === '' ? undefined : `${protocol}//${host}`;
}

/** How an origin differs from a pattern that nearly matches. */
function differenceBetween(pattern: string, origin: string): string | undefined {
  const { protocol, hostname, port } = new URL(origin);
  const [, scheme, subdomains, host, allowedPort = ''] = parts.exec(pattern.toLowerCase()) ?? [];
  if (host === undefined) return undefined;
  const isSubdomain = hostname.endsWith(`.${host}`);
  if (hostname !== host && !isSubdomain) return undefined;
  if (isSubdomain && subdomains === undefined)
    return `${pattern} is allowed, but none of its subdomains. ${scheme}//*.${host} allows them.`;
  if (!isSubdomain && subdomains !== undefined)
    return `${pattern} allows the subdomains of ${host}, but not ${host} itself: add ${origin}, too.`;
  if (scheme !== protocol) return `${pattern} is allowed, but with ${scheme}// and not with ${protocol}//.`;
  if (allowedPort !== port) return `${pattern} is allowed, but the port differs.`;
  return undefined;
}

/** A pattern's scheme, `*.`, host and port. */
const parts = /^([a-z][a-z0-9+.-]*:)\/\/(\*\.)?([^:/]+|\[[^\]]+\])(?::(\d+|\*))?$/;

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
