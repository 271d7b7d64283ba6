import { KeyedLimits } from '../ingest/admission/keyed-limits.ts';
import { networkOf } from '../runtime/network.ts';
import type { AccessClaims } from './access-token.ts';
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

/** The rate limit key of a client. Anyone who knows the id can act as a public client, so these are limited by network. */
export function rateKeyOf(client: AuthenticatedClient, address: string): string {
  const isPublic = client.kind === 'sign-in' && client.client.secretHash === null;
  return isPublic ? `${client.id} ${networkOf(address)}` : client.id;
}

/** The rate limit key that all tokens of one holder share: an API key, or a user of a client. */
export function holderKeyOf({ sub, client_id: clientId }: Pick<AccessClaims, 'sub' | 'client_id'>): string {
  return sub === clientId ? clientId : `${clientId} ${sub}`;
}
