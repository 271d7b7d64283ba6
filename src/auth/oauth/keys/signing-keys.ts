import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { publicMembers, type StoredKey, signingKeyOf, signs } from '../../../accounts/signing-keys.ts';
import type { Jwk, SigningAlgorithm } from '../../../storage/lmdb/auth-records.ts';

/** How long a new key is published before it signs. This is also how long caches keep the JWKS. */
export const publishedAheadSeconds = 60;

/** Lifetime of an access token, seconds. */
export const accessTokenLifetime = 3600;

/** The type of a token: an access token (RFC 9068 §2.1) or an ID token. One never passes for the other. */
export type TokenType = 'at+jwt' | 'JWT';

export interface Signer {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: KeyObject;
  /** The protected header of its tokens (RFC 7515 §4.1), base64url. */
  readonly headers: Readonly<Record<TokenType, string>>;
}

/** A key that verifies tokens, only with its own algorithm. */
export interface Verifier {
  readonly alg: SigningAlgorithm;
  readonly publicKey: KeyObject;
}

/** The public part of a signing key, as in the JWKS (RFC 7517 §4). */
export interface PublicJwk extends Jwk {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly use: 'sig';
}

export interface SigningKeys {
  readonly current: Signer;
  /** The key whose tokens of this type start with this header. A token selects one of our keys, and never includes its own. */
  find(typ: TokenType, header: string): Verifier | undefined;
  /** Newest first. The newest may not sign yet. Each change makes a new array. */
  readonly published: readonly PublicJwk[];
}

/**
 * Imports signing keys once, for all signatures.
 * @param stored as from `storedKeys`
 * @throws {Error} if none of them signs
 */
export function openSigningKeys(stored: readonly StoredKey[]): SigningKeys {
  const signer = signingKeyOf(stored);
  const { kid, alg } = signer;
  const verifiers = { 'at+jwt': new Map<string, Verifier>(), JWT: new Map<string, Verifier>() };
  for (const key of stored) {
    const verifier = {
      alg: key.alg,
      publicKey: createPublicKey({ key: { ...publicJwk(key) }, format: 'jwk' }),
    };
    for (const typ of ['at+jwt', 'JWT'] as const) verifiers[typ].set(protectedHeader(key, typ), verifier);
  }
  return {
    current: {
      kid,
      alg,
      privateKey: createPrivateKey({ key: { ...signer.privateJwk }, format: 'jwk' }),
      headers: { 'at+jwt': protectedHeader(signer, 'at+jwt'), JWT: protectedHeader(signer, 'JWT') },
    },
    find: (typ, header) => verifiers[typ].get(header),
    published: stored.map((key) => ({ ...publicJwk(key), kid: key.kid, alg: key.alg, use: 'sig' })),
  };
}

function publicJwk(key: StoredKey): Jwk {
  return publicMembers(signs(key) ? key.privateJwk : key.publicJwk);
}

function protectedHeader({ kid, alg }: StoredKey, typ: TokenType): string {
  return Buffer.from(JSON.stringify({ alg, typ, kid })).toString('base64url');
}
