import { KeyedLimits } from '../ingest/admission/keyed-limits.ts';
import { networkOf } from '../runtime/network.ts';
import type { AccessClaims } from './access-token.ts';
import type { AuthenticatedClient } from './clients.ts';
import { OAuthError } from './oauth-error.ts';

export const tooOften = 'This client asks too often; wait, then try again';

/** Limits how often a client may get, revoke or introspect tokens: each costs a signature or a commit. */
export class ClientRates {
  readonly #limits: KeyedLimits;

  /** @param rate requests a second, and twice as many at once; 0 is no limit */
  constructor(rate: number) {
    this.#limits = new KeyedLimits(rate, 2 * rate);
  }

  /** @param rate as at the start */
  set(rate: number): void {
    this.#limits.set(rate, 2 * rate);
  }

  /** @param now monotonic ms @throws {OAuthError} `slow_down`, with status 429, when there were too many */
  take(key: string, now: number): void {
    const wait = this.#limits.take(key, now);
    if (wait === 0) return;
    throw new OAuthError('slow_down', tooOften, {
      status: 429,
      retryAfter: wait,
    });
  }
}

/** The key that a client is limited by. Anyone who knows the id can act as a public client, so that is limited by network. */
export function rateKeyOf(client: AuthenticatedClient, address: string): string {
  const isPublic = client.kind === 'sign-in' && client.client.secretHash === null;
  return isPublic ? `${client.id} ${networkOf(address)}` : client.id;
}

/** The key that all tokens of one holder share: of an API key, or of a user of a client. */
export function holderKeyOf({ sub, client_id: clientId }: Pick<AccessClaims, 'sub' | 'client_id'>): string {
  return sub === clientId ? clientId : `${clientId} ${sub}`;
}
