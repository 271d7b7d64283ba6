import type { Accounts } from '../accounts/accounts.ts';
import { missing } from '../accounts/checks.ts';
import { ApiError } from '../errors.ts';
import type * as http from '../http/endpoint.ts';
import type { Params } from '../http/types.ts';
import type { Application, Role, Team, User } from '../store/records.ts';
import type { Caller } from './caller.ts';

/** What an endpoint is within: its path's `:id` names it, and the handler gets it. */
export interface Within {
  readonly service: unknown;
  readonly application: { readonly application: Application };
  readonly team: { readonly team: Team };
  readonly user: { readonly user: User };
}

/**
 * Who may call an endpoint. An application or a team has to be one of the caller's teams, and a user in one of them;
 * otherwise it is answered 404, like what does not exist. `least` is the role that it takes, or else 403; with `orSelf`
 * it takes none where the user is the caller.
 */
export interface Access<Kind extends keyof Within = keyof Within> {
  readonly within: Kind;
  readonly least: Role;
  readonly orSelf?: true;
}

/** Checks a caller, and finds what the path's id names. @throws {ApiError} `not_found`, `forbidden` */
export function checkAccess(access: Access, accounts: Accounts, caller: Caller, params: Params): object {
  const id = params['id'] ?? '';
  const found = find(access.within, accounts, caller, id);
  if (!(access.orSelf && id === caller.id)) checkRole(caller, access.least);
  return found;
}

/** @throws {ApiError} `forbidden` */
function checkRole(caller: Caller, least: Role): void {
  if (least === 'User' || caller.role === 'Admin') return;
  throw new ApiError('forbidden', adminsOnly);
}

export const adminsOnly = 'This needs the role Admin';

/** @throws {ApiError} `not_found`: the same for what does not exist and for what is of other teams */
function find(within: keyof Within, accounts: Accounts, caller: Caller, id: string): object {
  switch (within) {
    case 'service':
      return {};
    case 'application': {
      const application = accounts.applications.get(id);
      return { application: known(within, application, application && [application.teamId], caller) };
    }
    case 'team':
      return { team: known(within, accounts.teams.get(id), [id], caller) };
    case 'user': {
      const user = accounts.users.get(id);
      return { user: known(within, user, id === caller.id ? caller.teams : user?.teams, caller) };
    }
  }
}

function known<T>(
  what: string,
  thing: T | undefined,
  teams: readonly string[] | undefined,
  caller: Caller,
): T {
  if (thing !== undefined && teams?.some((team) => caller.teams.includes(team))) return thing;
  throw new ApiError('not_found', missing(what));
}

/** The row of docs/access.md. */
export function accessRow({ within, least, orSelf }: Access): http.Access {
  const who = `${least === 'Admin' ? 'Admins' : 'Users and Admins'}${places[within]}`;
  return { credential: 'Access token', who: orSelf ? `${who}; the user themself` : who };
}

const places = {
  service: '',
  application: " of the application's team",
  team: ' of the team',
  user: ' who share a team with the user',
} as const;
