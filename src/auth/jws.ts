import { sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlgorithm } from '../store/auth-records.ts';
import type { SigningKeys, TokenType } from './signing-keys.ts';

/** On a thread of the pool: an RSA signature would keep packets waiting for half a millisecond. */
const signAside = promisify(sign);
const verifyAside = promisify(verify);

/** What is hashed with what before it is signed; Ed25519 does that itself. */
const hashes = { ES256: 'sha256', RS256: 'sha256', EdDSA: null } as const satisfies Record<
  SigningAlgorithm,
  unknown
>;

/** R and S side by side, as RFC 7518 §3.4 wants an ECDSA signature; the other algorithms do not mind. */
const dsaEncoding = 'ieee-p1363';

/** Signs claims with the current key: a JWS in its compact form (RFC 7515 §3.1). */
export async function signJws({ current }: SigningKeys, typ: TokenType, claims: object): Promise<string> {
  const input = `${current.headers[typ]}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  const key = { key: current.privateKey, dsaEncoding } as const;
  const signature = await signAside(hashes[current.alg], Buffer.from(input), key);
  return `${input}.${signature.toString('base64url')}`;
}

/**
 * The claims of a token that one of our keys signed, or `undefined`. Only this service makes its tokens, so one must be letter
 * for letter what `signJws` writes. Its header is compared as a whole, before any cryptography: a token can name no other
 * algorithm, type or key, bring none, and ask for nothing. And what says a claim twice, or the same thing in another way,
 * is not ours.
 */
export async function readJws(keys: SigningKeys, typ: TokenType, token: string): Promise<unknown> {
  const [header = '', payload = '', signature = '', more] = token.split('.', 4);
  const verifier = more === undefined ? keys.find(typ, header) : undefined;
  const bytes = Buffer.from(signature, 'base64url');
  if (verifier === undefined || bytes.toString('base64url') !== signature) return undefined;
  const key = { key: verifier.publicKey, dsaEncoding } as const;
  const good = await verifyAside(hashes[verifier.alg], Buffer.from(`${header}.${payload}`), key, bytes);
  return good ? readClaims(payload) : undefined;
}

function readClaims(payload: string): unknown {
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return Buffer.from(JSON.stringify(claims)).toString('base64url') === payload ? claims : undefined;
  } catch {
    return undefined;
  }
}
