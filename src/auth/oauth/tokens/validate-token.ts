import type { AccountDraft } from '../../../accounts/account-draft.ts';
import type { Accounts } from '../../../accounts/accounts.ts';
import { isUsable } from '../../../accounts/api-keys.ts';
import type { AccountStore } from '../../../accounts/store/account-store.ts';
import { signedInUser } from '../clients/clients.ts';
import { type AccessClaims, InvalidToken, type TokenSettings, verifyAccessToken } from './access-token.ts';
import { isOnList } from './invalidation.ts';
import type { TokenRejections } from './token-totals.ts';
import type { VerifiedTokens } from './verified-tokens.ts';

export interface ValidationDeps extends TokenSettings {
  readonly accountStore: Pick<AccountStore, 'has'>;
  readonly directory: Pick<Accounts, 'apiKeys' | 'users' | 'clients'>;
  readonly verified: VerifiedTokens;
  readonly rejections?: Pick<TokenRejections, 'count'>;
}

/**
 * Reads the claims of a valid access token: at once if the token was verified before, else as a promise, which rejects with
 * `InvalidToken`.
 */
export type ValidateToken = (token: string) => AccessClaims | Promise<AccessClaims>;

/**
 * Makes the validation of access tokens. It checks the signature and times, then the invalidation list, then that the holder
 * exists.
 */
export function createValidation(deps: ValidationDeps): ValidateToken {
  const { keys, clock, accountStore, directory, verified } = deps;

  async function validate(token: string): Promise<AccessClaims> {
    const claims = await verifyAccessToken(deps, token);
    // No other code runs between this check and adding the token, so no cached token is on the list.
    if (isOnList(accountStore, claims) || !holderExists(directory, claims, clock.now()))
      throw new InvalidToken();
    verified.keep(token, claims);
    return claims;
  }

  const count = (error: unknown): never => {
    if (error instanceof InvalidToken) deps.rejections?.count(error.reason);
    throw error;
  };

  return (token) => {
    verified.useKeys(keys.published);
    const now = clock.now();
    const claims = verified.find(token, now);
    return claims !== undefined && holderExists(directory, claims, now)
      ? claims
      : validate(token).catch(count);
  };
}

/** Whether a previously validated token is still valid for the drafted change. */
export function isStillValid(
  { clock }: Pick<ValidationDeps, 'clock'>,
  claims: AccessClaims,
  draft: AccountDraft,
): boolean {
  const now = clock.now();
  return now < claims.exp * 1000 && !isOnList(draft, claims) && holderExists(draft, claims, now);
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
 * A client that acts for itself is its own subject: an API key, which may have expired. Any other token is for a user who may use
 * the client.
 */
function holderExists(
  accounts: ValidationDeps['directory'],
  { sub, client_id }: AccessClaims,
  now: number,
): boolean {
  if (sub === client_id) return isUsable(accounts.apiKeys.get(sub), now);
  return signedInUser(accounts, { userId: sub, clientId: client_id }) !== undefined;
}
