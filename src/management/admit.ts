import type { Accounts } from '../accounts/accounts.ts';
import type { Directory } from '../accounts/directory.ts';
import { Unauthorized } from '../auth/bearer.ts';
import { holderKeyOf } from '../auth/client-rates.ts';
import { ApiError } from '../contract/errors.ts';
import type { Params, Request } from '../http/types.ts';
import { type Access, checkAccess } from './access.ts';
import { type Caller, type Claims, callerOf, type ManageDeps } from './caller.ts';

/** A caller with a valid token and requests left, who may do what they ask for. */
export interface Admitted {
  readonly caller: Caller;
  /** The caller as a draft of a change shows them. */
  readonly callerIn: (accounts: Accounts) => Caller;
  /** Changes made through it are checked again, and are the caller's in the audit log. */
  readonly directory: Directory;
}

/**
 * Admits a caller, and finds what the path names.
 * @throws {ApiError} `rate_limited`, `not_found`, `not_in_team`, `forbidden`
 */
export function admit(
  deps: ManageDeps,
  access: Access,
  claims: Claims,
  request: Request,
  params: Params,
): Admitted {
  takeRate(deps, claims);
  const callerIn = (accounts: Accounts) => callerOf(accounts, claims);
  const check = (accounts: Accounts) => checkAccess(access, accounts, callerIn(accounts), params);
  const found = check(deps.directory);
  const caller = callerIn(deps.directory);
  if (request.method === 'GET' || request.method === 'HEAD') {
    return { ...found, caller, callerIn, directory: deps.directory };
  }
  // The token may be invalidated, and the role lost, while the body arrives.
  const directory = deps.directory.under({
    id: caller.id,
    address: request.remoteAddress,
    check(draft) {
      if (!deps.isStillValid(claims, draft)) throw new Unauthorized(true);
      check(draft);
    },
  });
  return { ...found, caller, callerIn, directory };
}

export const tooManyRequests = 'This client has made too many requests';

/** @throws {ApiError} `rate_limited` */
function takeRate({ rates, directory }: ManageDeps, claims: Claims): void {
  const wait = rates.take(holderKeyOf(claims), directory.clock.monotonic());
  if (wait > 0) throw new ApiError('rate_limited', tooManyRequests, wait);
}
