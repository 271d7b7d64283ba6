import type { AccountTransaction } from '../../accounts/account-transaction.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { isUsable } from '../../accounts/api-keys.ts';
import type { AccountStore } from '../../accounts/store/account-store.ts';
import { keyAt } from '../../accounts/store/sweep.ts';
import { Refusal } from '../../contract/errors.ts';
import type { RefusalCode } from '../../contract/refusals.ts';
import type { Request } from '../../http/types.ts';
import { signedInUser } from './clients.ts';
import type { Services } from './services.ts';
import { type AccessClaims, InvalidToken, isOnList, type TokenTotals, verifyAccessToken } from './tokens.ts';

interface VerifiedToken {
  readonly claims: AccessClaims;
  /** True if the token was used again since it was added, or since `#makeRoom` kept it. */
  used: boolean;
}

/** Maximum number of cached tokens, a few kilobytes each. */
const maxTokens = 10_000;

/**
 * Cache of access tokens with verified signatures, keyed by the token text. Tokens without a second use are removed
 * first. Forged tokens are never added.
 */
export class VerifiedTokens {
  readonly #tokens = new Map<string, VerifiedToken>();
  /**
   * The latest encoded text of each token, by token id. A token can have two texts, because an ECDSA signature has two
   * encodings.
   */
  readonly #textByToken = new Map<string, string>();
  readonly #most: number;
  /** The set of keys that verified the signatures, compared by identity. */
  #keys: unknown;

  constructor(most = maxTokens) {
    this.#most = most;
  }

  get size(): number {
    return this.#tokens.size;
  }

  /** Removes all tokens if the keys have changed, because the keys of some tokens might no longer be valid. */
  useKeys(keys: unknown): void {
    if (keys === this.#keys) return;
    this.#keys = keys;
    this.#tokens.clear();
    this.#textByToken.clear();
  }

  /** The claims of a token that has not expired at `now` (Unix ms); `undefined` if it must be verified. */
  find(text: string, now: number): AccessClaims | undefined {
    const found = this.#tokens.get(text);
    if (found === undefined || now >= found.claims.exp * 1000) return undefined;
    found.used = true;
    return found.claims;
  }

  keep(text: string, claims: AccessClaims): void {
    this.drop(claims.jti);
    if (this.#tokens.size >= this.#most) this.#makeRoom();
    this.#tokens.set(text, { claims, used: false });
    this.#textByToken.set(claims.jti, text);
  }

  /** Removes the token with this id immediately. */
  drop(jti: string): void {
    const text = this.#textByToken.get(jti);
    if (text === undefined) return;
    this.#textByToken.delete(jti);
    this.#tokens.delete(text);
  }

  /** Removes the oldest unused token. A used token stays, but counts as unused from then on. */
  #makeRoom(): void {
    for (const [text, token] of this.#tokens) {
      if (!token.used) {
        this.drop(token.claims.jti);
        return;
      }
      token.used = false;
      this.#tokens.delete(text);
      this.#tokens.set(text, token);
    }
  }
}

/** Removes tokens from the cache when they are added to the invalidation list. */
export function forgetInvalidated(accountStore: Pick<AccountStore, 'onCommit'>, verified: VerifiedTokens): void {
  accountStore.onCommit((writes) => {
    for (const { table, key, value } of writes)
      if (table === 'invalidated' && value !== undefined) verified.drop(key.slice(keyAt(0).length));
  });
}

export interface ValidationDeps extends Services {
  readonly verified: VerifiedTokens;
  readonly totals: TokenTotals;
}

/**
 * Reads the claims of a valid access token. Returns them directly if the token was verified before, else returns a
 * promise, which rejects with `InvalidToken`.
 */
export type ValidateToken = (token: string) => AccessClaims | Promise<AccessClaims>;

/**
 * Creates the validation of access tokens. It checks the signature and the times, then the invalidation list, and then
 * that the holder exists.
 */
export function createValidation(services: ValidationDeps): ValidateToken {
  const { keys, clock, accountStore, directory, verified } = services;

  async function validate(token: string): Promise<AccessClaims> {
    const claims = await verifyAccessToken(services, token);
    // The token is cached in the same tick as this check, so no cached token is on the invalidation list.
    if (isOnList(accountStore, claims) || !holderExists(directory, claims, clock.now())) throw new InvalidToken();
    verified.keep(token, claims);
    return claims;
  }

  const count = (error: unknown): never => {
    if (error instanceof InvalidToken) services.totals.countRefused(error.reason);
    throw error;
  };

  return (token) => {
    verified.useKeys(keys.published);
    const now = clock.now();
    const claims = verified.find(token, now);
    return claims !== undefined && holderExists(directory, claims, now) ? claims : validate(token).catch(count);
  };
}

/** True if a validated token is still valid in the transaction. */
export function isStillValid(
  { clock }: Pick<Services, 'clock'>,
  claims: AccessClaims,
  tx: AccountTransaction,
): boolean {
  const now = clock.now();
  return now < claims.exp * 1000 && !isOnList(tx, claims) && holderExists(tx, claims, now);
}

/** The claims of an access token; `undefined` if it is not valid now. */
export async function validOrNot(validate: ValidateToken, token: string): Promise<AccessClaims | undefined> {
  try {
    return await validate(token);
  } catch (error) {
    if (error instanceof InvalidToken) return undefined;
    throw error;
  }
}

/**
 * True if the holder of a token can still use the token. A token whose subject equals its client belongs to an API key,
 * which might have expired. Any other token belongs to a user, who must be allowed to use the client.
 */
function holderExists(
  accounts: Pick<Accounts, 'apiKeys' | 'users' | 'clients'>,
  { sub, client_id }: AccessClaims,
  now: number,
): boolean {
  if (sub === client_id) return isUsable(accounts.apiKeys.get(sub), now);
  return signedInUser(accounts, { userId: sub, clientId: client_id }) !== undefined;
}

/**
 * Reads the claims of a request's access token. Returns them directly if the token was verified before, else returns a
 * promise, which rejects with `UnauthorizedError`.
 */
export type Authenticate = (request: Request) => AccessClaims | Promise<AccessClaims>;

const notValid = 'The access token is not valid';
const challenge = 'Bearer error="invalid_token"';
const notSent = 'Send Authorization: Bearer <access token>';

export class ChallengeError extends Refusal {
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;

  constructor(code: RefusalCode, detail: string, challenge: string) {
    super(code, detail);
    this.challenge = challenge;
  }
}

/** A request without a valid access token. The challenge names an error only if a token was sent (RFC 6750 §3). */
export class UnauthorizedError extends ChallengeError {
  constructor(presented: boolean, detail = presented ? notValid : notSent, description = '') {
    super('unauthorized', detail, presented ? describedChallenge(description) : 'Bearer');
  }
}

function describedChallenge(description: string): string {
  return description === '' ? challenge : `${challenge}, error_description="${description}"`;
}

/**
 * Creates the check of `Authorization: Bearer` (RFC 6750 §2.1). It requires a valid access token with the service's
 * scope, of an existing client or user.
 * @param withoutToken authenticates a request without a token
 */
export function createBearer(
  services: ValidationDeps,
  withoutToken: Authenticate = () => Promise.reject(new UnauthorizedError(false)),
): Authenticate {
  const { serviceScope } = services;
  const validate = createValidation(services);
  const inScope = ({ scope }: AccessClaims) => scope.split(' ').includes(serviceScope);

  async function settle(validated: AccessClaims | Promise<AccessClaims>): Promise<AccessClaims> {
    try {
      const claims = await validated;
      if (inScope(claims)) return claims;
    } catch (error) {
      if (!(error instanceof InvalidToken)) throw error;
      if (error.reason === 'unknown_key') throw new UnauthorizedError(true, error.message, error.message);
    }
    throw new UnauthorizedError(true);
  }

  return (request) => {
    const token = bearerToken(request);
    if (token === undefined) return withoutToken(request);
    const claims = validate(token);
    return claims instanceof Promise || !inScope(claims) ? settle(claims) : claims;
  };
}

/** The token in a request's `Authorization: Bearer` header; `undefined` if missing or malformed. */
export function bearerToken(request: Request): string | undefined {
  const value = request.header('authorization') ?? '';
  const [scheme] = /^bearer +/i.exec(value) ?? [];
  if (scheme === undefined) return undefined;
  const token = value.slice(scheme.length).replace(/ +$/, '');
  return token === '' || token.includes(' ') ? undefined : token;
}
