import { KeyedLimits } from '../ingest/admission/keyed-limits.ts';
import { networkOf } from '../runtime/network.ts';
import { OAuthError } from './oauth-error.ts';

/** Limit of failures of one client from one address, per minute and at once. */
const ofClient = { rate: 1, burst: 60 };
/** Limit of failures from one address, for all client ids. */
const ofAddress = { rate: 10, burst: 600 };

/** Client ids are truncated to this length: unauthenticated senders choose them. */
const longestId = 64;

export const tooManyFailures = 'Too many requests have failed; wait, then retry';

/** Slows down clients that fail to authenticate, or send invalid codes and refresh tokens. A success is free. */
export class ClientFailures {
  readonly #clients = new KeyedLimits(ofClient.rate, ofClient.burst);
  readonly #addresses = new KeyedLimits(ofAddress.rate, ofAddress.burst);

  /**
   * Counts a failure. Successes are not limited: wrong guesses never lock out a client that knows the secret.
   * @param now monotonic ms
   * @throws {OAuthError} `temporarily_unavailable`, with status 429, after too many
   */
  note(clientId: string, address: string, now: number): void {
    const wait = Math.max(
      this.#clients.take(keyOf(clientId, address), now),
      this.#addresses.take(networkOf(address), now),
    );
    if (wait === 0) return;
    throw new OAuthError('temporarily_unavailable', tooManyFailures, {
      status: 429,
      retryAfter: wait,
    });
  }
}

function keyOf(clientId: string, address: string): string {
  return `${networkOf(address)} ${clientId.slice(0, longestId)}`;
}
