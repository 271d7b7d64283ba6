import type { Accounts } from '../accounts/accounts.ts';
import { scopesOf } from '../accounts/api-keys.ts';
import { findClient, teamsThrough } from '../auth/oauth/clients.ts';
import type { Authenticate } from '../auth/oauth/validation.ts';
import { roleOf } from '../contract/key-scopes.ts';
import { type Role, roleIn } from '../contract/roles.ts';
import type { ApiKey, Application } from '../storage/lmdb/records.ts';

export interface Caller {
  /** A user's id, or the client id of an API key. */
  readonly id: string;
  /** The role in a team; `undefined` if the caller is not in it, or the client may not act there. */
  roleIn(teamId: string): Role | undefined;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
  /** The key of the caller's session; `undefined` for an API key. */
  readonly session: string | undefined;
  /** The API key that calls; `undefined` for a user. */
  readonly apiKey?: ApiKey | undefined;
}

/** The claims of an access token. */
export type Claims = Awaited<ReturnType<Authenticate>>;

/**
 * The caller with a token. A token is valid for an hour, but a changed team or role, or a deletion, takes effect at once:
 * each property is read from the accounts when it is used. The role of a user's token is information for its reader.
 */
export function callerOf(
  { users, apiKeys, clients }: Pick<Accounts, 'users' | 'apiKeys' | 'clients'>,
  { sub: id, client_id: clientId, sid: session }: Claims,
): Caller {
  if (id === clientId) return new ApiKeyCaller(apiKeys, id);
  const now = () =>
    teamsThrough(users.get(id) ?? { teams: [], primaryTeam: '' }, findClient({ clients }, clientId));
  return {
    id,
    session,
    roleIn(teamId) {
      const user = users.get(id);
      return user && now().teams.includes(teamId) ? roleIn(user, teamId) : undefined;
    },
    get teams() {
      return now().teams;
    },
    get primaryTeam() {
      return now().primaryTeam;
    },
  };
}

/** An API key, whose scopes include a role in its team, or none. */
class ApiKeyCaller implements Caller {
  readonly id: string;
  readonly session = undefined;
  readonly #apiKeys: Accounts['apiKeys'];

  constructor(apiKeys: Accounts['apiKeys'], id: string) {
    this.id = id;
    this.#apiKeys = apiKeys;
  }

  get apiKey(): ApiKey | undefined {
    return this.#apiKeys.get(this.id);
  }

  get teams(): readonly string[] {
    const { apiKey } = this;
    return apiKey ? [apiKey.teamId] : [];
  }

  get primaryTeam(): string {
    return this.apiKey?.teamId ?? '';
  }

  roleIn(teamId: string): Role | undefined {
    const { apiKey } = this;
    return apiKey?.teamId === teamId ? roleOf(scopesOf(apiKey)) : undefined;
  }
}

/** Whether a caller may reach an application of one of their teams. An API key may be bound to others. */
export function reaches({ apiKey }: Pick<Caller, 'apiKey'>, applicationId: string): boolean {
  return apiKey?.applications?.includes(applicationId) ?? true;
}

/** The applications that a caller may see. */
export function visibleTo(caller: Caller, { applications }: Pick<Accounts, 'applications'>): Application[] {
  const { teams } = caller;
  return [...applications.values()].filter(({ id, teamId }) => teams.includes(teamId) && reaches(caller, id));
}

/** The applications of each team. Reports of teams take turns. */
export function byTeam(applications: readonly Application[]): ReadonlyMap<string, readonly Application[]> {
  const teams = new Map<string, Application[]>();
  for (const application of applications) {
    const own = teams.get(application.teamId) ?? [];
    teams.set(application.teamId, own);
    own.push(application);
  }
  return teams;
}
