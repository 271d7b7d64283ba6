import type { AccountStore, Draft, Reader } from '../../accounts/store/account-store.ts';
import type { TokenIdentity } from './access-token.ts';
import type { VerifiedTokens } from './verified-tokens.ts';

/**
 * Unexpired access tokens that are rejected. The list is on disk only. It is read once per token, when its signature is
 * verified. A cached token is removed from the cache when it is added to the list.
 */

/** Identifies a token in the list: its `jti`, and its `exp` in seconds. */
export type Invalidated = Pick<TokenIdentity, 'jti' | 'exp'>;

const digits = 12;

/** The key of a token in the list. */
export function invalidationKey({ jti, exp }: Invalidated): string {
  return sortedKey(exp, jti);
}

/** A key for something that expires, in seconds. Keys start with the expiry, so expired ones come first. */
export function sortedKey(seconds: number, id: string): string {
  return `${keyAt(seconds)}${id}`;
}

/** The first key of what expires at or after a time, in seconds. */
export function keyAt(seconds: number): string {
  return `${String(Math.max(0, Math.floor(seconds))).padStart(digits, '0')}.`;
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
      if (table === 'invalidated' && value !== undefined) verified.drop(key.slice(digits + 1));
  });
}
