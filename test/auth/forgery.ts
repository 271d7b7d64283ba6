import { createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { newSigningKey } from '../../src/accounts/signing-keys.ts';
import { openSigningKeys } from '../../src/auth/oauth/key-ring.ts';
import type { TokenSettings } from '../../src/auth/oauth/services.ts';
import type { AccessClaims } from '../../src/auth/oauth/tokens.ts';
import type { SigningAlgorithm, SigningKey } from '../../src/storage/lmdb/auth-records.ts';
import { testClock } from '../accounts/fixture.ts';

export const algorithms: readonly SigningAlgorithm[] = ['ES256', 'RS256', 'EdDSA'];

/** The keys and the algorithm of a service, and the values with which tests forge its tokens. */
export interface Forgery {
  readonly alg: SigningAlgorithm;
  readonly settings: TokenSettings;
  readonly key: SigningKey;
  readonly privateKey: KeyObject;
  /** The header and claims of a currently valid token. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: AccessClaims;
  /** Signs a token with the real key. The header and the claims are values or raw text. */
  sign(claims?: unknown, header?: unknown): string;
}

/**
 * An attack: it creates tokens that must be rejected.
 * @param others services with other keys, one per algorithm
 */
export type Attack = readonly [
  name: string,
  forge: (target: Forgery, others: readonly Forgery[]) => string | readonly string[],
];

/** Creates the only key of a service whose tokens are forged. */
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

/** Encodes a part of a token. A text stays unchanged; another value becomes JSON. */
export function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** Signs a token with the algorithm of the key. @param input the header and the payload */
export function signWith(privateKey: KeyObject, input: string): string {
  const hash = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = sign(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

/** The three parts of a token. */
export function splitToken(token: string): [header: string, payload: string, signature: string] {
  return token.split('.') as [string, string, string];
}
