import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../../accounts/secrets.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { SigningKeys } from '../../keys/signing-keys.ts';
import type { Browser } from '../../sign-in/browser.ts';

/** How long a challenge can be answered. */
export const challengeLifetimeMs = 10 * 60_000;

const timeBytes = 6;
const randomLength = 16;
const codeAt = timeBytes + randomLength;
/** The length of a challenge, base64url: the time, the random bytes, and an HMAC-SHA-256. */
const textLength = Math.ceil(((codeAt + 32) * 8) / 6);

export interface ChallengeDeps {
  readonly keys: Pick<SigningKeys, 'current'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly randomBytes: RandomBytes;
}

/**
 * A challenge (WebAuthn §13.4.3) for one browser, base64url. Nothing is stored before it is answered: it contains its time and a code
 * by a key that all nodes derive from their signing key.
 */
export function newChallenge({ keys, clock, randomBytes }: ChallengeDeps, browser: Browser): string {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(clock.now(), 0, timeBytes);
  const start = Buffer.concat([time, randomBytes(randomLength)]);
  return Buffer.concat([start, codeOf(keys.current.privateKey, start, browser)]).toString('base64url');
}

/**
 * When a challenge expires, Unix ms. `undefined` if it has expired, is for another browser, or is not ours. After a rotation of the
 * signing key, earlier challenges are not ours.
 */
export function challengeExpiry(
  { keys, clock }: Pick<ChallengeDeps, 'keys' | 'clock'>,
  browser: Browser,
  challenge: string,
): number | undefined {
  if (challenge.length !== textLength) return undefined;
  const bytes = Buffer.from(challenge, 'base64url');
  const start = bytes.subarray(0, codeAt);
  const code = codeOf(keys.current.privateKey, start, browser);
  const found = bytes.subarray(codeAt);
  if (found.length !== code.length || !timingSafeEqual(found, code)) return undefined;
  const expiresAt = start.readUIntBE(0, timeBytes) + challengeLifetimeMs;
  return clock.now() < expiresAt ? expiresAt : undefined;
}

function codeOf(signingKey: KeyObject, start: Uint8Array, { id }: Browser): Buffer {
  return createHmac('sha256', challengeKeyOf(signingKey)).update(start).update(id).digest();
}

const challengeKeys = new WeakMap<KeyObject, Buffer>();

/** A key for challenges only. It reveals nothing of the signing key. */
function challengeKeyOf(signingKey: KeyObject): Buffer {
  const known = challengeKeys.get(signingKey);
  if (known !== undefined) return known;
  const secret = signingKey.export({ type: 'pkcs8', format: 'der' });
  const made = createHmac('sha256', secret).update('challenges of passkeys').digest();
  challengeKeys.set(signingKey, made);
  return made;
}
