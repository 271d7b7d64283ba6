import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Jwk, RetiredKey, SigningAlgorithm, SigningKey } from '../storage/lmdb/auth-records.ts';
import { transact } from '../storage/lmdb/lmdb.ts';
import type { Transaction } from './store/account-store.ts';

type KeyStore = Pick<AccountTables, 'lmdb' | 'signingKeys'>;

export type StoredKey = SigningKey | RetiredKey;

export interface Rotation {
  readonly current: SigningKey;
  readonly retired: readonly RetiredKey[];
}

/**
 * Returns all stored signing keys, including keys from other processes: the current key, then the others, newest first.
 */
export function storedKeys({ signingKeys }: Pick<AccountTables, 'signingKeys'>): StoredKey[] {
  signingKeys.resetReadTxn();
  return inOrder(Array.from(signingKeys.getRange(), ({ value }) => value));
}

/** Reads all signing keys in a transaction, in the order of `storedKeys`. */
export function readSigningKeys(tx: Pick<Transaction, 'keys' | 'get'>): StoredKey[] {
  const kids = [...tx.keys('signingKeys', { start: '', end: '~' })];
  return inOrder(kids.map((kid) => tx.get('signingKeys', kid)!));
}

function inOrder(keys: StoredKey[]): StoredKey[] {
  return keys.sort((a, b) => Number(signs(b)) - Number(signs(a)) || b.createdAt - a.createdAt);
}

/** True if a key still signs. A retired key lacks its private part. */
export function signs(key: StoredKey): key is SigningKey {
  return 'privateJwk' in key;
}

/** @throws {Error} if all keys are retired */
export function getSigningKey(stored: readonly StoredKey[]): SigningKey {
  const key = stored.find(signs);
  if (key !== undefined) return key;
  throw new Error('Cannot sign tokens: the store has no signing key; it was never prepared');
}

/**
 * Creates a signing key and removes the private part of the previous key, in one durable transaction. This also works
 * while a service is running.
 * @param now Unix milliseconds
 * @param alg defaults to the algorithm of the previous key
 * @throws {Error} if the store has no signing key, or rejects the change
 */
export async function rotateSigningKey(store: KeyStore, now: number, alg?: SigningAlgorithm): Promise<Rotation> {
  const made = await newSigningKey(now, alg ?? getSigningKey(storedKeys(store)).alg);
  const current: SigningKey = { ...made, unaudited: true };
  return transact(store.lmdb, () => {
    const before = Array.from(store.signingKeys.getRange(), ({ value }) => value).filter(signs);
    const retired = before.map((key) => retire(key, now));
    for (const key of [...retired, current]) store.signingKeys.putSync(key.kid, key);
    return { current, retired };
  });
}

/** Makes a key the signing key in a transaction, and removes the private part of the previous key. */
export function putSigningKey(tx: Transaction, made: SigningKey, now: number): Rotation {
  const retired = readSigningKeys(tx)
    .filter(signs)
    .map((key) => retire(key, now));
  for (const key of [...retired, made]) tx.put('signingKeys', key.kid, key);
  return { current: made, retired };
}

/**
 * Records that the audit log has an entry for a key. Like a rotation, it bypasses `AccountStore.change`, because
 * another process might be rotating the same key. It waits for the disk, but only once per rotation.
 */
export function clearUnaudited(store: KeyStore, kid: string): void {
  transact(store.lmdb, () => {
    const { unaudited, ...audited } = store.signingKeys.get(kid) ?? {};
    if ('kid' in audited) store.signingKeys.putSync(kid, audited);
  });
}

function retire({ privateJwk, ...key }: SigningKey, now: number): RetiredKey {
  return { ...key, publicJwk: publicMembers(privateJwk), retiredAt: now };
}

const generate = promisify(generateKeyPair);

const generators = {
  ES256: () => generate('ec', { namedCurve: 'P-256' }),
  RS256: () => generate('rsa', { modulusLength: 2048 }),
  EdDSA: () => generate('ed25519', {}),
} as const satisfies Record<SigningAlgorithm, unknown>;

/** Generates a key pair without storing it. The `kid` is the thumbprint of the public key (RFC 7638). */
export async function newSigningKey(now: number, alg: SigningAlgorithm = 'ES256'): Promise<SigningKey> {
  const { privateKey } = await generators[alg]();
  const privateJwk = privateKey.export({ format: 'jwk' });
  return { kid: await calculateJwkThumbprint(privateJwk), alg, privateJwk: { ...privateJwk }, createdAt: now };
}

/** Returns the members of a public key (RFC 7518 §6.2.1, §6.3.1, RFC 8037 §2). The list excludes secret members. */
export function publicMembers(jwk: Jwk): Jwk {
  return Object.fromEntries(
    ['kty', 'crv', 'x', 'y', 'n', 'e'].flatMap((name) => (name in jwk ? [[name, jwk[name]]] : [])),
  );
}
