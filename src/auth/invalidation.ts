import type { Draft, Engine, Reader } from '../accounts/store/engine.ts';
import type { TokenIdentity } from './access-token.ts';
import type { VerifiedTokens } from './verified-tokens.ts';

/**
 * Access tokens that are refused although they have not expired. The list is on disk only: it is read once for each token,
 * when its signature is verified, and a token that was remembered by then is forgotten when it gets on the list.
 */

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

/** Drafts that a token is refused from now on. */
export function addToList(draft: Pick<Draft, 'put'>, token: Invalidated): void {
  draft.put('invalidated', invalidationKey(token), true);
}

/** Whether a token is refused: by what is on disk, or by what a plan finds. */
export function isOnList(reader: Pick<Reader, 'has'>, token: Invalidated): boolean {
  return reader.has('invalidated', invalidationKey(token));
}

/** Forgets tokens that were verified when they get on the list. */
export function forgetInvalidated(engine: Pick<Engine, 'onCommit'>, verified: VerifiedTokens): void {
  engine.onCommit((writes) => {
    for (const { table, key, value } of writes)
      if (table === 'invalidated' && value !== undefined) verified.drop(key.slice(digits + 1));
  });
}
