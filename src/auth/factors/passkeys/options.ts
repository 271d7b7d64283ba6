import { listPasskeys } from '../../../accounts/passkeys.ts';
import { relyingPartyId } from '../../../contract/sign-in.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import type { Browser } from '../../cookies/browser.ts';
import { computeMac, verifyMac } from '../../oauth/mac.ts';
import type { Services } from '../../oauth/services.ts';

/** The algorithms of passkeys: EdDSA, ES256 and RS256 (RFC 8152 §8, RFC 8812 §2). Windows Hello supports only RS256. */
export const algorithms = [-8, -7, -257] as const;

/** The options that the script of a page passes to the browser, with bytes as base64url (WebAuthn §5.4, §5.5). */
export type PasskeyOptions = Readonly<Record<string, unknown>>;

/** Creates the passkey options for the pages of a browser. */
export interface PasskeyPages {
  /** Options to sign in with any passkey of this service. */
  signIn(browser: Browser): PasskeyOptions;
  /** Options for the second factor of a user who has typed the password; `undefined` for a user without a passkey. */
  prove(browser: Browser, user: User): PasskeyOptions | undefined;
  /** Options to add a passkey to a user. */
  add(browser: Browser, user: User): PasskeyOptions;
}

/** Returns the functions that create passkey options; `undefined` if browsers allow no passkeys at this URL. */
export function passkeyPages(services: Services): PasskeyPages | undefined {
  const rpId = relyingPartyId(services.issuer);
  if (rpId === undefined) return undefined;
  const common = (browser: Browser) => ({ challenge: newChallenge(services, browser), timeout: challengeLifetimeMs });
  const known = ({ id }: User) =>
    listPasskeys(services.accountStore, id).map(([, { credentialId, transports }]) => ({
      type: 'public-key',
      id: credentialId,
      transports,
    }));
  return {
    signIn: (browser) => ({ ...common(browser), rpId, userVerification: 'required' }),
    prove(browser, user) {
      const allowCredentials = known(user);
      if (allowCredentials.length === 0) return undefined;
      return { ...common(browser), rpId, userVerification: 'discouraged', allowCredentials };
    },
    add: (browser, user) => ({
      ...common(browser),
      rp: { id: rpId, name: 'flagmeter' },
      user: { id: Buffer.from(user.id).toString('base64url'), name: user.email, displayName: user.name },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: known(user),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
    }),
  };
}

const challengeLifetimeMs = 10 * 60_000;

const purpose = 'challenges of passkeys';

const timeBytes = 6;
const randomLength = 16;
const codeAt = timeBytes + randomLength;
/** Length of a challenge, base64url: the time, the random bytes and an HMAC-SHA-256. */
const textLength = Math.ceil(((codeAt + 32) * 8) / 6);

/**
 * Creates a challenge (WebAuthn §13.4.3) for one browser, base64url. A challenge contains its time and an HMAC, so no
 * node needs to store it. The key of the HMAC derives from the signing key, which all nodes share.
 */
function newChallenge({ keys, clock, randomBytes }: Services, { id }: Browser): string {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(clock.now(), 0, timeBytes);
  const start = Buffer.concat([time, randomBytes(randomLength)]);
  return Buffer.concat([start, computeMac(keys, purpose, start, id)]).toString('base64url');
}

/**
 * The expiry of a challenge, Unix ms; `undefined` if it has expired, or was not created by this service for this
 * browser. A rotation of the signing key invalidates earlier challenges.
 */
export function challengeExpiry({ keys, clock }: Services, { id }: Browser, challenge: string): number | undefined {
  if (challenge.length !== textLength) return undefined;
  const bytes = Buffer.from(challenge, 'base64url');
  const start = bytes.subarray(0, codeAt);
  if (!verifyMac(bytes.subarray(codeAt), keys, purpose, start, id)) return undefined;
  const expiresAt = start.readUIntBE(0, timeBytes) + challengeLifetimeMs;
  return clock.now() < expiresAt ? expiresAt : undefined;
}
