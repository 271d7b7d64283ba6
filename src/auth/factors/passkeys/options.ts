import { passkeysOf } from '../../../accounts/passkeys.ts';
import { relyingPartyId } from '../../../contract/sign-in.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import type { Browser } from '../../cookies/browser.ts';
import type { Services } from '../../oauth/services.ts';
import { challengeLifetimeMs, newChallenge } from './challenge.ts';

/** The algorithms of passkeys: EdDSA, ES256 and RS256 (RFC 8152 §8, RFC 8812 §2). Windows Hello has only the last. */
export const algorithms = [-8, -7, -257] as const;

/** What the script of a page passes to the browser, with bytes as base64url (WebAuthn §5.4, §5.5). */
export type PasskeyOptions = Readonly<Record<string, unknown>>;

/** Makes the options of the pages for a browser. */
export interface PasskeyPages {
  /** For signing in with any passkey of this service. */
  signIn(browser: Browser): PasskeyOptions;
  /** For proving a user who has typed the password; `undefined` for a user without a passkey. */
  prove(browser: Browser, user: User): PasskeyOptions | undefined;
  /** For adding a passkey to a user. */
  add(browser: Browser, user: User): PasskeyOptions;
}

/** The options of pages; `undefined` if browsers allow no passkeys at this URL. */
export function passkeyPages(deps: Services): PasskeyPages | undefined {
  const rpId = relyingPartyId(deps.issuer);
  if (rpId === undefined) return undefined;
  const common = (browser: Browser) => ({
    challenge: newChallenge(deps, browser),
    timeout: challengeLifetimeMs,
  });
  const known = ({ id }: User) =>
    passkeysOf(deps.accountStore, id).map(([, { credentialId, transports }]) => ({
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
