import type { Directory } from '../accounts/directory.ts';
import { Unauthorized } from '../auth/bearer.ts';
import { Refusal } from '../errors.ts';
import { problem } from '../http/problem.ts';
import type { Params, Reply, Request, Route } from '../http/types.ts';
import type { Application, Role, Team, User } from '../store/records.ts';
import { type Access, access, type RouteName } from './access.ts';
import { actorOf, type Caller, callerOf, type ManageParts } from './caller.ts';

/** One request of a caller who may make it. */
export interface Call {
  readonly caller: Caller;
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

type CallOf<Name extends RouteName> = Call & Within[(typeof access)[Name]['within']];

/**
 * Makes a route of the management API. Its refusals come in an order that leaks nothing: 401 with a challenge, then 429, then 404
 * for whom the thing does not exist, and only then 403 for whom it is not to be changed.
 * @param name its row in the table of `access.ts`
 */
export function route<Name extends RouteName>(
  parts: ManageParts,
  name: Name,
  handle: (call: CallOf<Name>) => Reply | Promise<Reply>,
): Route {
  const [method, path] = name.split(' ') as [Route['method'], string];
  const row: Access = access[name];
  return {
    method,
    path: `/api/v2${path}`,
    async handle(request, params) {
      try {
        const claims = await parts.authenticate(request);
        takeToken(parts, claims.jti);
        const caller = callerOf(parts.directory, claims);
        const found = find(parts.directory, row, caller, params['id'] ?? '');
        checkRole(row, caller, params);
        const directory = parts.directory.by(actorOf(parts.directory, caller, request.remoteAddress));
        return await handle({ caller, request, params, directory, ...found } as CallOf<Name>);
      } catch (error) {
        if (!(error instanceof Unauthorized)) throw error;
        return problem(error, { 'www-authenticate': error.challenge });
      }
    },
  };
}

/** @throws {Refusal} `rate_limited` */
function takeToken({ rates, directory }: ManageParts, jti: string): void {
  const wait = rates.take(jti, directory.clock.monotonic());
  if (wait > 0) throw new Refusal('rate_limited', 'This access token has made too many requests', wait);
}

/** What the path's id names, for this caller. @throws {Refusal} `not_found`: the same for what is not there and what is not his */
function find(directory: Directory, { within }: Access, caller: Caller, id: string): object {
  switch (within) {
    case 'service':
      return {};
    case 'application': {
      const application = directory.applications.get(id);
      return { application: known(within, application, application && [application.teamId], caller) };
    }
    case 'team':
      return { team: known(within, directory.teams.get(id), [id], caller) };
    case 'user': {
      const user = directory.users.get(id);
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
  throw new Refusal('not_found', `There is no such ${what}`);
}

/** @throws {Refusal} `forbidden` */
function checkRole({ least, orSelf }: Access, caller: Caller, params: Params): void {
  if (orSelf && params['id'] === caller.id) return;
  requireRole(caller, least);
}

/** @throws {Refusal} `forbidden` when the caller's role is less than `least` */
export function requireRole(caller: Caller, least: Role): void {
  if (least === 'User' || caller.role === 'Admin') return;
  throw new Refusal('forbidden', 'This needs the role Admin');
}
