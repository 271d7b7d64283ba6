/** The factors that can prove who signs in. */
export const factors = ['password', 'passkey', 'totp', 'recovery-code', 'provider', 'invitation'] as const;

export type Factor = (typeof factors)[number];

export const maxPasskeys = 20;

/**
 * Returns the id of the relying party (WebAuthn §5.1.2), to which browsers bind passkeys: the host of the auth URL.
 * `undefined` if browsers do not allow passkeys at that URL: plain HTTP, except on localhost, or an IP address.
 */
export function relyingPartyId(authUrl: string): string | undefined {
  const { protocol, hostname } = new URL(authUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  return (protocol === 'https:' || isLocal) && !isAddress ? hostname : undefined;
}

/** Length of a new password (NIST SP 800-63B §3.1.1.2). Existing passwords can be shorter. */
export const passwordLength = { minCharacters: 12, maxBytes: 1024 };
