import type { Browser } from '../../cookies/browser.ts';
import { isMacOf, macOf } from '../../oauth/mac.ts';
import type { Services } from '../../oauth/services.ts';

/** How long a challenge can be answered. */
export const challengeLifetimeMs = 10 * 60_000;

const purpose = 'challenges of passkeys';

const timeBytes = 6;
const randomLength = 16;
const codeAt = timeBytes + randomLength;
/** The length of a challenge, base64url: the time, the random bytes, and an HMAC-SHA-256. */
const textLength = Math.ceil(((codeAt + 32) * 8) / 6);

/**
 * A challenge (WebAuthn §13.4.3) for one browser, base64url. Nothing is stored before it is answered: it contains its time and a code
 * by a key that all nodes derive from their signing key.
 */
export function newChallenge({ keys, clock, randomBytes }: Services, { id }: Browser): string {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(clock.now(), 0, timeBytes);
  const start = Buffer.concat([time, randomBytes(randomLength)]);
  return Buffer.concat([start, macOf(keys, purpose, start, id)]).toString('base64url');
}

/**
 * When a challenge expires, Unix ms. `undefined` if it has expired, is for another browser, or is not ours. After a rotation of the
 * signing key, earlier challenges are not ours.
 */
export function challengeExpiry(
  { keys, clock }: Services,
  { id }: Browser,
  challenge: string,
): number | undefined {
  if (challenge.length !== textLength) return undefined;
  const bytes = Buffer.from(challenge, 'base64url');
  const start = bytes.subarray(0, codeAt);
  if (!isMacOf(bytes.subarray(codeAt), keys, purpose, start, id)) return undefined;
  const expiresAt = start.readUIntBE(0, timeBytes) + challengeLifetimeMs;
  return clock.now() < expiresAt ? expiresAt : undefined;
}
