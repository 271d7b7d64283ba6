import type { Request } from '../../../http/types.ts';
import { KeyedLimits } from '../../../ingest/admission/rate-limits.ts';
import { networkOf } from '../../../runtime/addresses.ts';
import type { AuthenticatedClient } from './clients.ts';
import { OAuthError } from './oauth-error.ts';

export const tooOften = 'This client sends too many requests; wait, then retry';

/** Limits the rate at which a client may get, revoke or introspect tokens. Each request costs a signature or a commit. */
export class ClientRates {
  readonly #limits: KeyedLimits;

  /** @param rate requests per second, with bursts of twice as many; 0 means no limit */
  constructor(rate: number) {
    this.#limits = new KeyedLimits(rate, 2 * rate);
  }

  /** @param rate as in the constructor */
  set(rate: number): void {
    this.#limits.set(rate, 2 * rate);
  }

  /**
   * @param now monotonic ms
   * @throws {OAuthError} `slow_down`, with status 429, after too many
   */
  take(key: string, now: number): void {
    const wait = this.#limits.take(key, now);
    if (wait === 0) return;
    throw new OAuthError('slow_down', tooOften, {
      status: 429,
      retryAfter: wait,
    });
  }
}

/**
 * The rate limit key of a client. Anyone who knows the id can act as a public client, or try to exchange a token, so these are
 * limited by network.
 */
export function rateKeyOf(client: AuthenticatedClient, request: Pick<Request, 'remoteAddress'>): string {
  const isPublic =
    client.kind === 'sign-in' ? client.client.secretHash === null : client.apiKey.trust !== undefined;
  // Reading the address is a system call, so only public clients pay for it.
  return isPublic ? `${client.id} ${networkOf(request.remoteAddress)}` : client.id;
}

/** The rate limit key that all tokens of one holder share: an API key, or a user of a client. */
export function holderKeyOf({ sub, client_id: clientId }: { sub: string; client_id: string }): string {
  return sub === clientId ? clientId : `${clientId} ${sub}`;
}

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
