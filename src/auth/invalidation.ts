import type { AccountStore } from '../store/accounts.ts';
import type { TokenIdentity } from './access-token.ts';
import type { VerifiedTokens } from './verified-tokens.ts';

/** What the list knows a token by: its `jti`, and its `exp` in seconds. */
export type Invalidated = Pick<TokenIdentity, 'jti' | 'exp'>;

const digits = 12;

/** The key of a token in the list. Keys begin with the time, so those that have expired lie at the beginning. */
export function invalidationKey({ jti, exp }: Invalidated): string {
  return `${invalidationKeyAt(exp)}${jti}`;
}

/** The first key of the tokens that expire at a time or later, in seconds. */
export function invalidationKeyAt(seconds: number): string {
  return `${String(Math.max(0, Math.floor(seconds))).padStart(digits, '0')}.`;
}

/**
 * Access tokens that are refused although they have not expired. The list is on disk only: it is asked once for each
 * token, when its signature is verified, and a token that was remembered by then is forgotten when it gets on the list.
 */
export class InvalidationList {
  readonly #table: AccountStore['invalidated'];
  readonly #verified: VerifiedTokens;

  constructor({ invalidated }: Pick<AccountStore, 'invalidated'>, verified: VerifiedTokens) {
    this.#table = invalidated;
    this.#verified = verified;
  }

  has(token: Invalidated): boolean {
    return this.#table.doesExist(invalidationKey(token));
  }

  /** Puts a token on the list; to be called inside a transaction, which decides whether it is there. */
  add(token: Invalidated): void {
    this.#table.putSync(invalidationKey(token), true);
    this.#verified.drop(token.jti);
  }
}
