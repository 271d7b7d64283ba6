import { createPublicKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { Refusal } from '../contract/errors.ts';
import { isName } from '../contract/names.ts';
import { pick } from '../contract/shapes/fields.ts';
import type { Jwk, PublicKey, SigningAlgorithm } from '../storage/lmdb/auth-records.ts';

const maxPublicKeys = 5;
/** Allowed lengths of an RSA modulus in bits. Signatures with a longer modulus are slow to verify. */
const rsaBits = { min: 2048, max: 8192 };
/**
 * Allowed public exponents of RSA keys. Small exponents allow forgery (FIPS 186-5 §5.1); large ones are slow to verify.
 */
const exponents = { min: 65_537n, max: 2n ** 32n };

/** The kinds of keys, each with its algorithm and its public members (RFC 7518 §6, RFC 8037 §2). */
const kinds: readonly (readonly [kty: string, crv: string | undefined, SigningAlgorithm, readonly string[]])[] = [
  ['EC', 'P-256', 'ES256', ['kty', 'crv', 'x', 'y']],
  ['RSA', undefined, 'RS256', ['kty', 'n', 'e']],
  ['OKP', 'Ed25519', 'EdDSA', ['kty', 'crv', 'x']],
];

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Reads public keys (RFC 7517). @param field name of the field in refusals @throws {Refusal} `invalid_body` */
export async function readPublicKeys(jwks: readonly Jwk[], field = 'publicKeys'): Promise<readonly PublicKey[]> {
  if (jwks.length === 0 || jwks.length > maxPublicKeys)
    throw new Refusal('invalid_body', `\`${field}\` must have 1 to ${maxPublicKeys} entries`);
  const keys = await Promise.all(jwks.map((jwk, index) => readPublicKey(jwk, `${field}[${index}]`)));
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length)
    throw new Refusal('invalid_body', `\`${field}\` must not have two keys with the same kid`);
  return keys;
}

async function readPublicKey(jwk: Jwk, place: string): Promise<PublicKey> {
  const fault = (must: string) => new Refusal('invalid_body', `\`${place}\` ${must}`);
  if (privateMembers.some((member) => Object.hasOwn(jwk, member)))
    throw fault('must not have a private part; register the public key only, and replace this key pair');
  const [, , alg, members] = kinds.find(([kty, crv]) => jwk['kty'] === kty && jwk['crv'] === crv) ?? [];
  if (alg === undefined || members === undefined)
    throw fault('must be an RSA key, an EC key on P-256 or an Ed25519 key, as JWK');
  if ((jwk['alg'] ?? alg) !== alg || (jwk['use'] ?? 'sig') !== 'sig')
    throw fault(`must have alg ${alg} and use sig, or neither`);
  const publicJwk = pick(jwk, members);
  const imported = importedOrNone(publicJwk);
  if (imported === undefined) throw fault('must be well-formed');
  const { modulusLength: bits, publicExponent: exponent } = imported.asymmetricKeyDetails ?? {};
  if (bits !== undefined && (bits < rsaBits.min || bits > rsaBits.max))
    throw fault(`must have ${rsaBits.min} to ${rsaBits.max} bits if it is an RSA key`);
  if (exponent !== undefined && (exponent < exponents.min || exponent > exponents.max))
    throw fault(`must have an exponent of ${exponents.min} to ${exponents.max} if it is an RSA key`);
  const kid = jwk['kid'] ?? (await calculateJwkThumbprint(publicJwk));
  if (typeof kid !== 'string' || !isName(kid)) throw fault('must have a kid of 1 to 256 bytes');
  return { kid, alg, publicJwk };
}

function importedOrNone(publicJwk: Jwk): KeyObject | undefined {
  try {
    return importPublicKey(publicJwk);
  } catch {
    return undefined;
  }
}

/** @throws {Error} if the key is malformed */
export function importPublicKey(publicJwk: Jwk): KeyObject {
  return createPublicKey({ key: { ...publicJwk }, format: 'jwk' });
}
