import type { Directory } from '../../../accounts/directory.ts';
import { originMatcher } from '../../../accounts/origins.ts';
import type { OAuthClient } from '../../../storage/lmdb/records.ts';

/** The origins of each client, cached by record: a record never changes. */
const matchers = new WeakMap<OAuthClient, (origin: string) => boolean>();

/**
 * Reports whether pages of an origin may use the token endpoints and the management API: those of the console, and of the
 * redirect URIs of public clients.
 * @param baseUrl the public URL of the management API, under which the console lives
 */
export function clientOrigins(
  { clients }: Pick<Directory, 'clients'>,
  baseUrl: string,
): (origin: string) => boolean {
  const own = new URL(baseUrl).origin;
  return (origin) => {
    if (origin === own) return true;
    for (const client of clients.values())
      if (client.secretHash === null && matcherOf(client)(origin)) return true;
    return false;
  };
}

function matcherOf(client: OAuthClient): (origin: string) => boolean {
  const known = matchers.get(client);
  if (known !== undefined) return known;
  const patterns = client.redirectUris.flatMap(originsOf);
  const matcher = patterns.length === 0 ? () => false : originMatcher(patterns);
  matchers.set(client, matcher);
  return matcher;
}

/** The origin of a redirect URI; for a loopback address, with any port (RFC 8252 §7.3). An app's own scheme has none. */
function originsOf(uri: string): readonly string[] {
  const { protocol, hostname, origin } = new URL(uri);
  if (protocol === 'http:' && hostname !== 'localhost') return [`http://${hostname}:*`];
  return protocol === 'http:' || protocol === 'https:' ? [origin] : [];
}
