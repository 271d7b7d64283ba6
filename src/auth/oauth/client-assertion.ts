import { errors, type JWTPayload, jwtVerify } from 'jose';
import { importPublicKey } from '../../accounts/public-keys.ts';
import { hashSecret } from '../../accounts/secrets.ts';
import { sortedKey } from '../../accounts/store/sweep.ts';
import type { PublicKey } from '../../storage/lmdb/auth-records.ts';
import { type AuthenticatedClient, checkNotExpired, type Form, findClient, invalidClient } from './clients.ts';
import { OAuthError } from './oauth-error.ts';
import type { Services } from './services.ts';
import { clockTolerance, readUnverified } from './tokens.ts';

/** The value of `client_assertion_type` (RFC 7523 §2.2). */
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A client that has signed an assertion, which must be used only once. */
interface AssertedClient {
  readonly client: AuthenticatedClient;
  /** The assertion: its `jti`, and its `exp` in seconds. */
  readonly assertion: { readonly jti: string; readonly exp: number };
}

/** Maximum size of an assertion. A longer assertion is rejected without parsing. */
const longestAssertion = 4096;
/** Maximum remaining lifetime of an assertion, seconds. A used assertion is remembered until its expiry. */
const longestLife = 300;
const longestJti = 256;

const assertionRule = `The client assertion is not valid. It must be signed with a registered key. iss and sub must be the client id, aud the issuer, jti unused, and exp at most ${longestLife} seconds ahead`;

/**
 * Authenticates a client by an assertion that it has signed with a registered key (RFC 7523 §3).
 * @throws {OAuthError} `invalid_client`, the same for an unknown client and a forged assertion; `invalid_request`
 */
export async function authenticateByAssertion(
  services: Services,
  authorization: string | undefined,
  form: Form,
): Promise<AssertedClient> {
  if (authorization !== undefined || form.has('client_secret'))
    throw new OAuthError('invalid_request', 'Authenticate with client_assertion or a secret, not both');
  if (form.get('client_assertion_type') !== assertionType)
    throw new OAuthError('invalid_request', `client_assertion_type must be ${assertionType}`);
  const token = form.get('client_assertion') ?? '';
  const unverified = token.length > longestAssertion ? undefined : readUnverified(token);
  const id = form.get('client_id') ?? unverified?.claims.sub;
  const found = id === undefined ? undefined : withKeys(services.directory, id);
  if (unverified === undefined || found === undefined) throw refusal();
  const now = services.directory.clock.now();
  const claims = await verified(token, candidates(found.keys, unverified.header), {
    id: found.client.id,
    audiences: [services.issuer, `${services.issuer}/connect/token`],
    now,
  });
  if (claims === undefined) throw refusal();
  if (found.client.kind === 'api-key') checkNotExpired(found.client.apiKey, now);
  return { client: found.client, assertion: { jti: claims.jti!, exp: claims.exp! } };
}

/**
 * Marks an assertion as used. This costs a commit, so first check the signature and the rate of the client.
 * @throws {OAuthError} `invalid_client` if the assertion was used before
 */
export async function useOnce(
  { accountStore }: Pick<Services, 'accountStore'>,
  { client, assertion }: AssertedClient,
): Promise<void> {
  const key = sortedKey(assertion.exp, hashSecret(`${client.id} ${assertion.jti}`));
  const isFirst = await accountStore.change((tx) => {
    if (tx.has('assertions', key)) return false;
    tx.put('assertions', key, true);
    return true;
  });
  if (!isFirst) throw refusal();
}

/** The client id in an assertion; empty if missing. The id is not verified, so use it only to count failures. */
export function claimedByAssertion(form: Form): string {
  const token = form.get('client_assertion') ?? '';
  const sub = token.length > longestAssertion ? undefined : readUnverified(token)?.claims.sub;
  return typeof sub === 'string' ? sub : '';
}

function refusal(): OAuthError {
  return invalidClient(false, assertionRule);
}

function withKeys(directory: Services['directory'], id: string) {
  const apiKey = directory.apiKeys.get(id);
  if (apiKey?.publicKeys !== undefined)
    return { keys: apiKey.publicKeys, client: { kind: 'api-key', id, apiKey } as const };
  const client = findClient(directory, id);
  if (client?.publicKeys !== undefined)
    return { keys: client.publicKeys, client: { kind: 'sign-in', id, client } as const };
  return undefined;
}

/**
 * Selects the keys that might verify an assertion. Each key verifies only its own algorithm, whatever the header says.
 * `Ed25519` is the name of `EdDSA` in RFC 9864.
 */
function candidates(
  keys: readonly PublicKey[],
  { kid, alg }: { readonly kid?: string; readonly alg?: string },
): readonly PublicKey[] {
  const wanted = alg === 'Ed25519' ? 'EdDSA' : alg;
  return keys.filter((key) => key.alg === wanted && (kid === undefined || key.kid === kid));
}

interface ExpectedClaims {
  readonly id: string;
  readonly audiences: readonly string[];
  readonly now: number;
}

/** Verifies an assertion with the keys of a client. Returns the claims; `undefined` if no key verifies the assertion. */
async function verified(
  token: string,
  keys: readonly PublicKey[],
  { id, audiences, now }: ExpectedClaims,
): Promise<JWTPayload | undefined> {
  for (const { publicJwk, alg } of keys) {
    try {
      const { payload } = await jwtVerify(token, importPublicKey(publicJwk), {
        algorithms: alg === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [alg],
        issuer: id,
        subject: id,
        audience: [...audiences],
        requiredClaims: ['exp', 'jti'],
        clockTolerance,
        currentDate: new Date(now),
      });
      return isBounded(payload, audiences, now) ? payload : undefined;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  return undefined;
}

/** True if an assertion is only for this service and expires soon. Its use must be remembered until it expires. */
function isBounded({ aud, exp = Infinity, iat, jti }: JWTPayload, audiences: readonly string[], now: number) {
  const latest = now / 1000 + clockTolerance;
  return (
    [aud ?? []].flat().every((each) => audiences.includes(each)) &&
    exp <= latest + longestLife &&
    (iat === undefined || iat <= latest) &&
    typeof jti === 'string' &&
    jti.length > 0 &&
    jti.length <= longestJti
  );
}
