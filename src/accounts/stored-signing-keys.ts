import type { AccountStore } from '../storage/lmdb/accounts.ts';
import type { RetiredKey, SigningAlgorithm, SigningKey } from '../storage/lmdb/auth-records.ts';
import { transact } from '../storage/lmdb/transact.ts';
import { newSigningKey, publicMembers } from './new-signing-key.ts';
import type { Draft } from './store/engine.ts';

type KeyStore = Pick<AccountStore, 'lmdb' | 'signingKeys'>;

export type StoredKey = SigningKey | RetiredKey;

/** The key that signs now, and those that it replaced. */
export interface Rotation {
  readonly current: SigningKey;
  readonly retired: readonly RetiredKey[];
}

/** Every key that is kept, as it is on disk now, whichever process wrote it: the one that signs, then the newest. */
export function storedKeys({ signingKeys }: Pick<AccountStore, 'signingKeys'>): StoredKey[] {
  signingKeys.resetReadTxn();
  return inOrder(Array.from(signingKeys.getRange(), ({ value }) => value));
}

/** Every key that a plan finds, in the same order. */
export function draftedKeys(draft: Pick<Draft, 'keys' | 'get'>): StoredKey[] {
  const kids = [...draft.keys('signingKeys', { start: '', end: '~' })];
  return inOrder(kids.map((kid) => draft.get('signingKeys', kid)!));
}

function inOrder(keys: StoredKey[]): StoredKey[] {
  return keys.sort((a, b) => Number(signs(b)) - Number(signs(a)) || b.createdAt - a.createdAt);
}

/** Whether a key signs still: a retired one has no private part. */
export function signs(key: StoredKey): key is SigningKey {
  return 'privateJwk' in key;
}

/** The one of these that signs. @throws {Error} when none does */
export function signingKeyOf(stored: readonly StoredKey[]): SigningKey {
  const key = stored.find(signs);
  if (key !== undefined) return key;
  throw new Error('Cannot sign tokens: the store has no signing key; it was never prepared');
}

/**
 * Makes a new signing key, and takes the private part of the one before it away: in one durable transaction, also beside a
 * running service.
 * @param now Unix milliseconds
 * @param alg that of the key before unless given
 * @throws {Error} when the store has no signing key, or does not take the change
 */
export async function rotateSigningKey(
  store: KeyStore,
  now: number,
  alg?: SigningAlgorithm,
): Promise<Rotation> {
  const made = await newSigningKey(now, alg ?? signingKeyOf(storedKeys(store)).alg);
  const current: SigningKey = { ...made, unaudited: true };
  return transact(store.lmdb, () => {
    const before = Array.from(store.signingKeys.getRange(), ({ value }) => value).filter(signs);
    const retired = before.map((key) => retire(key, now));
    for (const key of [...retired, current]) store.signingKeys.putSync(key.kid, key);
    return { current, retired };
  });
}

/**
 * Drafts that a key signs from now on, in place of the one before it, whose private part goes.
 * @param made not stored yet
 */
export function draftRotation(draft: Draft, made: SigningKey, now: number): Rotation {
  const retired = draftedKeys(draft)
    .filter(signs)
    .map((key) => retire(key, now));
  for (const key of [...retired, made]) draft.put('signingKeys', key.kid, key);
  return { current: made, retired };
}

/**
 * Writes down that the audit log tells of a key. As a rotation it is a transaction of its own and no plan, since another
 * process may be rotating the same key. Once a rotation the caller may wait for the disk.
 */
export function markAudited(store: KeyStore, kid: string): void {
  transact(store.lmdb, () => {
    const { unaudited, ...audited } = store.signingKeys.get(kid) ?? {};
    if ('kid' in audited) store.signingKeys.putSync(kid, audited);
  });
}

function retire({ privateJwk, ...key }: SigningKey, now: number): RetiredKey {
  return { ...key, publicJwk: publicMembers(privateJwk), retiredAt: now };
}
