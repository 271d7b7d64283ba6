import { sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlgorithm } from '../storage/lmdb/auth-records.ts';
import type { SigningKeys, TokenType } from './signing-keys.ts';

/** Signs on a thread of the pool: an RSA signature would delay packets by half a millisecond. */
const signAside = promisify(sign);
const verifyAside = promisify(verify);

/** The hash of each algorithm; Ed25519 hashes by itself. */
const hashes = { ES256: 'sha256', RS256: 'sha256', EdDSA: null } as const satisfies Record<
  SigningAlgorithm,
  unknown
>;

/** R and S side by side, as RFC 7518 §3.4 requires for ECDSA; the other algorithms ignore it. */
const dsaEncoding = 'ieee-p1363';

/** Signs claims with the current key: a JWS in its compact form (RFC 7515 §3.1). */
export async function signJws({ current }: SigningKeys, typ: TokenType, claims: object): Promise<string> {
  const input = `${current.headers[typ]}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  const key = { key: current.privateKey, dsaEncoding } as const;
  const signature = await signAside(hashes[current.alg], Buffer.from(input), key);
  return `${input}.${signature.toString('base64url')}`;
}

/**
 * The claims of a token that one of our keys signed, or `undefined`. A token must be exactly what `signJws` writes. The whole
 * header is compared before any cryptography, so a token cannot choose another algorithm or type, bring a key, or ask for
 * anything. A token with a claim twice, or with the same claims written in another way, is refused.
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

/** What a token says of itself, which may be a lie: of three parts, each base64url. */
export function readUnverified(token: string): {
  readonly typ?: unknown;
  readonly kid?: unknown;
  readonly claims?: unknown;
} {
  const [header = '', payload = '', signature = '', more] = token.split('.', 4);
  const read = readClaims(header);
  if (more !== undefined || signature === '' || typeof read !== 'object' || read === null) return {};
  const { typ, kid } = read as { typ?: unknown; kid?: unknown };
  return { typ, kid, claims: readClaims(payload) };
}

function readClaims(payload: string): unknown {
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return Buffer.from(JSON.stringify(claims)).toString('base64url') === payload ? claims : undefined;
  } catch {
    return undefined;
  }
}
