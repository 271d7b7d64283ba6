import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { SigningKey } from '../store/accounts.ts';

/** Makes an ES256 key pair that is not stored yet; its `kid` is the thumbprint of the public key (RFC 7638). */
export async function newSigningKey(now: number): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const privateJwk = await exportJWK(privateKey);
  return {
    kid: await calculateJwkThumbprint(privateJwk),
    alg: 'ES256',
    privateJwk: { ...privateJwk },
    createdAt: now,
  };
}
