import { sign } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import type { SigningKeys, TokenType } from './signing-keys.ts';

const encoder = new TextEncoder();

/**
 * Signs claims with the current key: a JWS in its compact form (RFC 7515 §3.1). jose's `SignJWT` costs twice as much: it copies
 * and checks the claims, which are typed here, and encodes the header anew for each token.
 */
export function signJwt({ current }: SigningKeys, typ: TokenType, claims: JWTPayload): Promise<string> {
  const { alg, privateKey, headers } = current;
  const input = `${headers[typ]}.${base64url(Buffer.from(JSON.stringify(claims)))}`;
  // Ed25519 has its own digest (RFC 8037 §3.1). JWS has no ASN.1 around an ECDSA signature (RFC 7518 §3.4).
  const hash = alg === 'EdDSA' ? null : 'sha256';
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return new Promise((resolve, reject) => {
    // With a callback, the runtime signs on a thread of its pool.
    sign(hash, encoder.encode(input), key, (error, signature) =>
      error ? reject(error) : resolve(`${input}.${base64url(signature)}`),
    );
  });
}

/** The required claims. jose checks none of them by default. */
type ExpectedClaims = Pick<JWTVerifyOptions, 'audience'> &
  Required<Pick<JWTVerifyOptions, 'issuer' | 'requiredClaims' | 'currentDate'>>;

/**
 * The claims of a token that one of our keys signed, or `undefined`. A token must be exactly what `signJwt` writes. The whole
 * header is compared before any cryptography: a token cannot select another algorithm or type, or include a key. Repeated
 * claims, and other encodings of claims or signature, are rejected.
 */
export async function verifyJwt(
  keys: SigningKeys,
  typ: TokenType,
  token: string,
  expected: ExpectedClaims,
): Promise<JWTPayload | undefined> {
  const [header = '', payload, signature = ''] = token.split('.', 3);
  const verifier = keys.find(typ, header);
  if (verifier === undefined || base64url(Buffer.from(signature, 'base64url')) !== signature)
    return undefined;
  const options = { ...expected, typ, algorithms: [verifier.alg] };
  try {
    const { payload: claims } = await jwtVerify(token, verifier.publicKey, options);
    return base64url(Buffer.from(JSON.stringify(claims))) === payload ? claims : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

function base64url(bytes: Buffer): string {
  return bytes.toString('base64url');
}

/** The unverified header and claims of a token; `undefined` unless it is a well-formed, signed JWT. */
export function readUnverified(
  token: string,
): { readonly header: ProtectedHeaderParameters; readonly claims: JWTPayload } | undefined {
  if (!compactForm.test(token)) return undefined;
  try {
    const header = decodeProtectedHeader(token);
    return typeof header.alg === 'string' ? { header, claims: decodeJwt(token) } : undefined;
  } catch {
    return undefined;
  }
}

/** Three parts in base64url without padding (RFC 7515 §7.1). jose is more lenient. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Accepted difference between the clocks of a provider and of this service, seconds. */
export const clockTolerance = 60;

/** True if a time of a provider, seconds, is in the future, beyond the tolerance for the clocks. @param now Unix ms */
export function isLater(time: number | undefined, now: number): boolean {
  return time !== undefined && time > now / 1000 + clockTolerance;
}
