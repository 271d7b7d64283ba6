import type { Directory } from '../accounts/directory.ts';
import type { KeyedLimits } from '../admission/keyed-limits.ts';
import type { Authenticate } from '../auth/bearer.ts';
import type { Actor, Role } from '../store/records.ts';

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
  /** Requests that one token may make, by its `jti`. */
  readonly rates: KeyedLimits;
}

/** What an access token says of its holder. */
type Claims = Awaited<ReturnType<Authenticate>>;

/**
 * The caller that a token stands for. A token lives for an hour; who left a team or lost a role since it was issued
 * has lost it for this request too.
 */
export function callerOf({ users }: Pick<Directory, 'users'>, claims: Claims): Caller {
  const { sub: id, role, team: teams, primaryTeam } = claims;
  const user = users.get(id);
  if (user === undefined) return { id, role, teams, primaryTeam };
  return {
    id,
    role: user.role === 'Admin' ? role : 'User',
    teams: teams.filter((team) => user.teams.includes(team)),
    primaryTeam: user.primaryTeam,
  };
}

/** The caller as the audit log names him; `address` is where the request came from. */
export function actorOf({ users, apiKeys }: Directory, { id }: Caller, address: string): Actor {
  const user = users.get(id);
  if (user !== undefined) return { type: 'user', id, name: user.email, address };
  return { type: 'api-key', id, name: apiKeys.get(id)?.name ?? '', address };
}
