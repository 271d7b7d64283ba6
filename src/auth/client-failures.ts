import { KeyedLimits } from '../ingest/admission/keyed-limits.ts';
import { networkOf } from '../runtime/network.ts';
import { OAuthError } from './oauth-error.ts';

/** Failures of one client from one address: as many at once as in a minute. */
const ofClient = { rate: 1, burst: 60 };
/** Failures from one address, for any client id. */
const ofAddress = { rate: 10, burst: 600 };

/** Client ids are cut to this length: a stranger chooses them. */
const longestId = 64;

export const tooManyFailures = 'Too many requests have failed; wait, then try again';

/** Slows down clients that fail to authenticate, or send invalid codes and refresh tokens. A success costs nothing. */
export class ClientFailures {
  readonly #clients = new KeyedLimits(ofClient.rate, ofClient.burst);
  readonly #addresses = new KeyedLimits(ofAddress.rate, ofAddress.burst);

  /**
   * Counts a failure. Successes are not limited: a stranger's wrong guesses never lock out a client that knows the secret.
   * @param now monotonic ms
   * @throws {OAuthError} `temporarily_unavailable`, with status 429, when there were too many
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
