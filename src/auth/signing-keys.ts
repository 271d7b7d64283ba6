import { importJWK } from 'jose';
import type { SigningKey } from '../store/accounts.ts';

/** The public part of a signing key, as the JWKS shows it (RFC 7517 §4, RFC 7518 §6.2.1). */
export interface PublicJwk {
  readonly kty: 'EC';
  readonly crv: string;
  readonly x: string;
  readonly y: string;
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
}

export interface SigningKeys {
  /** The newest key, which signs. */
  readonly current: { readonly kid: string; readonly privateKey: CryptoKey };
  /** The public key of this id, or `undefined`: a token chooses among our keys, and brings none. */
  find(kid: string): CryptoKey | undefined;
  /** The newest first. */
  readonly published: readonly PublicJwk[];
}

/**
 * Imports the signing keys, once for all signatures.
 * @throws {Error} when there is none, or one that is no ES256 key
 */
export async function openSigningKeys(stored: Iterable<SigningKey>): Promise<SigningKeys> {
  const newestFirst = [...stored].sort((a, b) => b.createdAt - a.createdAt);
  const [newest] = newestFirst;
  if (!newest) throw new Error('Cannot sign tokens: the store has no signing key; it was never prepared');
  const published = newestFirst.map(publicPart);
  const publicKeys = new Map<string, CryptoKey>();
  for (const jwk of published) publicKeys.set(jwk.kid, await importKey(jwk));
  return {
    current: { kid: newest.kid, privateKey: await importKey(newest.privateJwk) },
    find: (kid) => publicKeys.get(kid),
    published,
  };
}

async function importKey(jwk: object): Promise<CryptoKey> {
  return (await importJWK({ ...jwk }, 'ES256')) as CryptoKey;
}

/** Picks what may be shown, rather than leaving out what may not. */
function publicPart({ kid, privateJwk }: SigningKey): PublicJwk {
  const { crv, x, y } = privateJwk;
  return { kty: 'EC', crv: String(crv), x: String(x), y: String(y), kid, alg: 'ES256', use: 'sig' };
}
