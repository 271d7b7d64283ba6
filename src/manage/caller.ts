import type { Directory } from '../accounts/directory.ts';
import { type Authenticate, Unauthorized } from '../auth/bearer.ts';
import { Refusal } from '../errors.ts';
import { problem } from '../http/problem.ts';
import type { Handler, Params, Reply, Request } from '../http/types.ts';
import type { Application, Role } from '../store/records.ts';

/** Who makes a request of the management API. */
export interface Caller {
  /** A user's id, or the client id of an API key. */
  readonly id: string;
  readonly role: Role;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
}

/** What every resource of the management API works on. */
export interface ManageParts {
  readonly directory: Directory;
  readonly authenticate: Authenticate;
}

/** Whom a route is for: all members of a team, or those with the role Admin. */
export type Audience = 'members' | 'admins';

export type CallerHandler = (caller: Caller, request: Request, params: Params) => Reply | Promise<Reply>;

export type ApplicationHandler = (
  application: Application,
  request: Request,
  params: Params,
) => Reply | Promise<Reply>;

/** A handler that knows its caller. Without a valid access token the answer is 401 with a challenge. */
export function withCaller({ authenticate }: ManageParts, handle: CallerHandler): Handler {
  return async (request, params) => {
    try {
      const { sub, role, team, primaryTeam } = await authenticate(request);
      return await handle({ id: sub, role, teams: team, primaryTeam }, request, params);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      return problem(error, { 'www-authenticate': error.challenge });
    }
  };
}

/**
 * A handler of a path with the application's `:id`. Its refusals come in an order that leaks nothing: 401, then
 * 404 for whom the application does not exist, and only then 403 for whom it is not to be changed.
 */
export function withApplication(parts: ManageParts, audience: Audience, handle: ApplicationHandler): Handler {
  return withCaller(parts, (caller, request, params) => {
    const application = parts.directory.applications.get(params['id'] ?? '');
    if (!application || !caller.teams.includes(application.teamId)) {
      throw new Refusal('not_found', 'There is no such application');
    }
    checkAudience(caller, audience);
    return handle(application, request, params);
  });
}

/** @throws {Refusal} `forbidden` when the caller does not belong to the audience */
export function checkAudience(caller: Caller, audience: Audience): void {
  if (audience === 'admins' && caller.role !== 'Admin') {
    throw new Refusal('forbidden', 'This needs the role Admin');
  }
}
