import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { newSigningKey } from '../../src/accounts/signing-keys.ts';
import { openSigningKeys } from '../../src/auth/oauth/key-ring.ts';
import type { TokenSettings } from '../../src/auth/oauth/services.ts';
import type { AccessClaims } from '../../src/auth/oauth/tokens.ts';
import type { SigningAlgorithm, SigningKey } from '../../src/storage/lmdb/auth-records.ts';
import { testClock } from '../accounts/fixture.ts';

export const algorithms: readonly SigningAlgorithm[] = ['ES256', 'RS256', 'EdDSA'];

/** A service's keys and algorithm, and what an attacker needs to forge its tokens. */
export interface Forgery {
  readonly alg: SigningAlgorithm;
  readonly settings: TokenSettings;
  readonly key: SigningKey;
  readonly privateKey: KeyObject;
  /** The header and claims of a currently valid token. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: AccessClaims;
  /** Makes a token of a header and claims, as values or as raw text, signed with the real key. */
  sign(claims?: unknown, header?: unknown): string;
}

/**
 * Tokens that an attacker can make, which must be rejected.
 * @param others services with other keys, one per algorithm
 */
export type Attack = readonly [
  name: string,
  forge: (target: Forgery, others: readonly Forgery[]) => string | readonly string[],
];

/** Makes a key, the only one of the forged service. */
export async function openForgery(alg: SigningAlgorithm): Promise<Forgery> {
  const clock = testClock();
  const key = await newSigningKey(clock.now(), alg);
  const settings: TokenSettings = {
    issuer: 'https://auth.example',
    audience: 'https://api.example',
    keys: openSigningKeys([key]),
    clock,
    randomBytes,
  };
  const privateKey = createPrivateKey({ key: { ...key.privateJwk }, format: 'jwk' });
  const header = { alg, typ: 'at+jwt', kid: key.kid };
  const iat = Math.floor(clock.now() / 1000);
  const claims: AccessClaims = {
    sub: 'user_1',
    client_id: 'client_1',
    scope: 'openid flagmeter',
    role: 'User',
    team: ['team_1'],
    primaryTeam: 'team_1',
    iss: settings.issuer,
    aud: settings.audience,
    iat,
    exp: iat + 3600,
    jti: 'an-id',
  };
  return {
    alg,
    settings,
    key,
    privateKey,
    header,
    claims,
    sign: (payload = claims, head = header) => signWith(privateKey, `${encode(head)}.${encode(payload)}`),
  };
}

/** A token part: text unchanged, other values as JSON. */
export function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** The token of a signing input, signed with the algorithm of the key. */
export function signWith(privateKey: KeyObject, input: string): string {
  const hash = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = sign(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

/** The three parts of a token. */
export function splitToken(token: string): [header: string, payload: string, signature: string] {
  return token.split('.') as [string, string, string];
}
