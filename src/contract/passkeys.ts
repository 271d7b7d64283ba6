export const maxPasskeys = 20;

/**
 * The id of the relying party (WebAuthn §5.1.2), to which browsers bind passkeys: the host of the auth URL. `undefined` if browsers
 * allow no passkeys there: over plain HTTP, except on localhost, and at an IP address.
 */
export function relyingPartyId(authUrl: string): string | undefined {
  const { protocol, hostname } = new URL(authUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  return (protocol === 'https:' || isLocal) && !isAddress ? hostname : undefined;
}
