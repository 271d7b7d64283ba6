import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import type { Jwk, SigningAlgorithm, SigningKey } from '../storage/lmdb/auth-records.ts';

const generate = promisify(generateKeyPair);

const generators = {
  ES256: () => generate('ec', { namedCurve: 'P-256' }),
  RS256: () => generate('rsa', { modulusLength: 2048 }),
  EdDSA: () => generate('ed25519', {}),
} as const satisfies Record<SigningAlgorithm, unknown>;

/**
 * Makes a key pair that is not stored yet. Its `kid` is the thumbprint of the public key (RFC 7638).
 * @param now Unix milliseconds
 */
export async function newSigningKey(now: number, alg: SigningAlgorithm = 'ES256'): Promise<SigningKey> {
  const { privateKey } = await generators[alg]();
  const privateJwk = privateKey.export({ format: 'jwk' });
  return {
    kid: await calculateJwkThumbprint(privateJwk),
    alg,
    privateJwk: { ...privateJwk },
    createdAt: now,
  };
}

/**
 * The members of a public key of any type (RFC 7518 §6.2.1, §6.3.1, RFC 8037 §2). An allowlist, so that secret members never
 * get in.
 */
export function publicMembers(jwk: Jwk): Jwk {
  return Object.fromEntries(
    ['kty', 'crv', 'x', 'y', 'n', 'e'].flatMap((name) => (name in jwk ? [[name, jwk[name]]] : [])),
  );
}
