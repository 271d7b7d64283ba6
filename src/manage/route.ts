import type { AccountDraft } from '../accounts/account-draft.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { actorOf } from '../accounts/actors.ts';
import type { Directory } from '../accounts/directory.ts';
import { Unauthorized } from '../auth/bearer.ts';
import { holderKeyOf } from '../auth/client-rates.ts';
import { ApiError } from '../errors.ts';
import { problem } from '../http/problem.ts';
import type { Params, Reply, Request, Route } from '../http/types.ts';
import type { Application, Role, Team, User } from '../store/records.ts';
import { type Access, access, type RouteName } from './access.ts';
import { type Caller, type Claims, callerOf, type ManageDeps } from './caller.ts';
import { checked } from './checked.ts';

/** One request of a caller who may make it. */
export interface Call {
  readonly caller: Caller;
  /** The caller as a draft shows them. */
  callerIn(accounts: Accounts): Caller;
  readonly request: Request;
  readonly params: Params;
  /** Changes made through it are the caller's in the audit log. */
  readonly directory: Directory;
}

/** What a route is within, by the kind. */
interface Within {
  service: unknown;
  application: { readonly application: Application };
  team: { readonly team: Team };
  user: { readonly user: User };
}

/** A call within an application. */
export type ApplicationCall = Call & Within['application'];

/** A call within a team. */
export type TeamCall = Call & Within['team'];

/** A call within the users that the caller may know of. */
export type UserCall = Call & Within['user'];

type CallOf<Name extends RouteName> = Call & Within[(typeof access)[Name]['within']];

/**
 * Makes a route of the management API. Its refusals come in an order that leaks nothing: 401 with a challenge, then 429, then 404
 * for whom the thing does not exist, and only then 403 for whom it is not to be changed.
 * @param name its row in the table of `access.ts`
 */
export function route<Name extends RouteName>(
  parts: ManageDeps,
  name: Name,
  handle: (call: CallOf<Name>) => Reply | Promise<Reply>,
): Route {
  const [method, path] = name.split(' ') as [Route['method'], string];
  const row: Access = access[name];

  function answer(request: Request, params: Params, claims: Claims): Reply | Promise<Reply> {
    takeRate(parts, claims);
    const callerIn = (accounts: Accounts) => callerOf(accounts, claims);
    const caller = callerIn(parts.directory);
    const check = (accounts: Accounts) => {
      const found = find(accounts, row, callerIn(accounts), params['id'] ?? '');
      checkRole(row, callerIn(accounts), params);
      return found;
    };
    const found = check(parts.directory);
    // The caller may have lost the token or the right since, and decides how long the body takes to come.
    const checkAgain = (draft: AccountDraft) => {
      if (!parts.isStillValid(claims, draft)) throw new Unauthorized(true);
      check(draft);
    };
    const directory =
      method === 'GET' ? parts.directory : changedBy(parts.directory, caller, request, checkAgain);
    return handle({ caller, callerIn, request, params, directory, ...found } as CallOf<Name>);
  }

  return {
    method,
    path: `/api/v2${path}`,
    handle(request, params) {
      const claims = parts.authenticate(request);
      // Most tokens were seen before: then nothing here waits for anything.
      const reply =
        claims instanceof Promise
          ? claims.then((validated) => answer(request, params, validated))
          : answer(request, params, claims);
      return reply instanceof Promise ? reply.catch(challenge) : reply;
    },
  };
}

/** The same directory, for changes of a caller. */
function changedBy(
  directory: Directory,
  { id }: Caller,
  { remoteAddress }: Request,
  check: (draft: AccountDraft) => void,
): Directory {
  return checked(directory.by(actorOf(directory, id, remoteAddress)), check);
}

function challenge(error: unknown): Reply {
  if (error instanceof Unauthorized) return problem(error, { 'www-authenticate': error.challenge });
  throw error;
}

/** @throws {ApiError} `rate_limited` */
function takeRate({ rates, directory }: ManageDeps, claims: Claims): void {
  const wait = rates.take(holderKeyOf(claims), directory.clock.monotonic());
  if (wait > 0) throw new ApiError('rate_limited', 'This client has made too many requests', wait);
}

/** What the path's id names, for this caller. @throws {ApiError} `not_found`: the same for what is not there and what is not his */
function find(accounts: Accounts, { within }: Access, caller: Caller, id: string): object {
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
  throw new ApiError('not_found', `There is no such ${what}`);
}

/** @throws {ApiError} `forbidden` */
function checkRole({ least, orSelf }: Access, caller: Caller, params: Params): void {
  if (orSelf && params['id'] === caller.id) return;
  requireRole(caller, least);
}

/** @throws {ApiError} `forbidden` when the caller's role is less than `least` */
export function requireRole(caller: Caller, least: Role): void {
  if (least === 'User' || caller.role === 'Admin') return;
  throw new ApiError('forbidden', 'This needs the role Admin');
}
