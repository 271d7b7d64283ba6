import type { AccountStore, Draft, Reader } from '../../../accounts/store/account-store.ts';
import { keyAt, sortedKey } from '../../../accounts/store/sweep.ts';
import type { TokenIdentity } from './access-token.ts';
import type { VerifiedTokens } from './verified-tokens.ts';

/**
 * Unexpired access tokens that are rejected. The list is on disk only. It is read once per token, when its signature is
 * verified. A cached token is removed from the cache when it is added to the list.
 */

/** Identifies a token in the list: its `jti`, and its `exp` in seconds. */
export type Invalidated = Pick<TokenIdentity, 'jti' | 'exp'>;

/** The key of a token in the list. */
export function invalidationKey({ jti, exp }: Invalidated): string {
  return sortedKey(exp, jti);
}

/** Drafts the invalidation of a token. */
export function addToList(draft: Pick<Draft, 'put'>, token: Invalidated): void {
  draft.put('invalidated', invalidationKey(token), true);
}

/** Whether a token is invalidated, on disk or in a draft. */
export function isOnList(reader: Pick<Reader, 'has'>, token: Invalidated): boolean {
  return reader.has('invalidated', invalidationKey(token));
}

/** Removes tokens from the cache of verified tokens when they are added to the list. */
export function forgetInvalidated(
  accountStore: Pick<AccountStore, 'onCommit'>,
  verified: VerifiedTokens,
): void {
  accountStore.onCommit((writes) => {
    for (const { table, key, value } of writes)
      if (table === 'invalidated' && value !== undefined) verified.drop(key.slice(keyAt(0).length));
  });
}
