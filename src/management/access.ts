import type { Accounts } from '../accounts/accounts.ts';
import { listScopes } from '../accounts/api-keys.ts';
import { mustExist } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { isInstallationAdmin } from '../accounts/teams.ts';
import { findClient, holderKey, teamsThrough } from '../auth/oauth/clients.ts';
import { ChallengeError, UnauthorizedError } from '../auth/oauth/validation.ts';
import { Refusal } from '../contract/errors.ts';
import { findRole, type KeyScope, scopeOfRole } from '../contract/key-scopes.ts';
import { isAtLeast, type Role, roleIn, roles } from '../contract/roles.ts';
import { isRecentSignIn, maxSignInAge } from '../contract/step-up.ts';
import type { Params, Request } from '../http/types.ts';
import type { ApiKey, Application, Team, User } from '../storage/lmdb/records.ts';
import type { Claims, Services } from './services.ts';

/** Resources that contain endpoints. The handler receives the resource whose id is the `:id` of the path. */
export interface Within {
  readonly service: unknown;
  /** The whole installation, which the Admins of the first team run. */
  readonly installation: unknown;
  readonly application: { readonly application: Application };
  readonly team: { readonly team: Team };
  readonly user: { readonly user: User };
}

/**
 * Requirements for callers of an endpoint. The caller must be in the team, in the team of the application, or in a team
 * of the user. Otherwise the response is 403 `not_in_team`, or 404 if the id does not exist. A caller without the role
 * `least` gets 403 `forbidden`. With `within: 'service'`, the caller needs the role in any of their teams, and the
 * handler checks the team of the request. With `orSelf`, users do not need the role for requests about themselves.
 *
 * With `recent`, users must have signed in recently, which is checked last. With `'partly'`, only some changes require
 * a recent sign-in, and the handler calls `checkRecent`.
 */
export interface Access<Kind extends keyof Within = keyof Within> {
  readonly within: Kind;
  readonly least: Role;
  readonly orSelf?: true;
  /** A scope that an API key needs instead of the role. */
  readonly scope?: KeyScope;
  /** Set if API keys that are bound to applications may call the endpoint, although it is not within an application. */
  readonly bound?: true;
  readonly recent?: true | 'partly';
}

/** Checks a caller, and finds the resource of the path. @throws {Refusal} `not_found`, `not_in_team`, `forbidden` */
function checkAccess(access: Access, accounts: Accounts, caller: Caller, params: Params): object {
  const id = params['id'] ?? '';
  const { found, teams } = find(access.within, accounts, caller, id);
  if (!(access.orSelf && id === caller.id) && !hasScope(caller, access)) checkRole(caller, teams, access.least);
  checkBound(caller, access, id);
  return found;
}

/** Checks that a caller has a role in one of these teams. @throws {Refusal} `forbidden` */
function checkRole(caller: Caller, teams: readonly string[], least: Role): void {
  if (teams.some((team) => isAtLeast(caller.roleIn(team), least))) return;
  throw new Refusal('forbidden', caller.apiKey ? requiresScope(least) : requires(least));
}

function requiresScope(least: Role): string {
  return `This requires an API key with the scope ${holders(least)
    .map((role) => scopeOfRole[role])
    .join(' or ')}`;
}

function hasScope({ apiKey }: Caller, { scope }: Access): boolean {
  return apiKey !== undefined && scope !== undefined && listScopes(apiKey).includes(scope);
}

/** Checks that an API key bound to applications is used for these applications only. @throws {Refusal} `forbidden` */
function checkBound(caller: Caller, { within, bound }: Access, id: string): void {
  if (caller.apiKey?.applications === undefined) return;
  if (within === 'application' ? !reaches(caller, id) : bound !== true) throw new Refusal('forbidden', boundElsewhere);
}

const boundElsewhere = 'This API key can only reach the applications that it is bound to';

/** The detail of `forbidden`. */
export function requires(least: Role): string {
  return `This requires the role ${holders(least).join(' or ')}`;
}

/** The roles that include a role. */
export function holders(least: Role): readonly Role[] {
  return roles.filter((role) => isAtLeast(role, least));
}

interface FoundResource {
  /** The resource, whose kind is a key of `Within`. */
  readonly found: object;
  /** Ids of the teams that own the resource. */
  readonly teams: readonly string[];
}

export const installationAdminsOnly = 'This requires an Admin of the first team, who runs the installation';

/** @throws {Refusal} `not_found`, `not_in_team` */
function find(within: keyof Within, accounts: Accounts, caller: Caller, id: string): FoundResource {
  if (within === 'installation' && !isInstallationAdmin(accounts, caller))
    throw new Refusal('forbidden', installationAdminsOnly);
  if (within === 'service' || within === 'installation') return { found: {}, teams: caller.teams };
  const { thing, teams } = ownedBy(within, accounts, caller, id);
  return { found: { [within]: reachable(within, thing, teams, caller) }, teams };
}

function ownedBy(within: OwnedKind, { applications, teams, users }: Accounts, caller: Caller, id: string) {
  switch (within) {
    case 'application': {
      const application = applications.get(id);
      return { thing: application, teams: application ? [application.teamId] : [] };
    }
    case 'team':
      return { thing: teams.get(id), teams: [id] };
    case 'user': {
      const user = users.get(id);
      return { thing: user, teams: id === caller.id ? caller.teams : (user?.teams ?? []) };
    }
  }
}

/** @param teams ids of the teams that own the resource */
function reachable<T>(what: OwnedKind, thing: T | undefined, teams: readonly string[], caller: Caller): T {
  const found = mustExist(what, thing);
  if (!teams.some((team) => caller.teams.includes(team))) throw new Refusal('not_in_team', notInTeam[what]);
  return found;
}

/** Resources that belong to teams. */
type OwnedKind = Exclude<keyof Within, 'service' | 'installation'>;

/**
 * Checks that a resource exists, and that the caller is an Admin in a team that owns the resource.
 * @throws {Refusal} `not_found`, `not_in_team`, `forbidden`
 */
export function checkManages(within: OwnedKind, accounts: Accounts, id: string, caller: Caller): void {
  checkAccess({ within, least: 'Admin' }, accounts, caller, { id });
}

/** The details of `not_in_team`. */
export const notInTeam: Readonly<Record<OwnedKind, string>> = {
  application: "The caller is not in the application's team; an Admin of that team can add users",
  team: 'The caller is not in this team; one of its Admins can add users',
  user: 'The caller does not share a team with this user',
};

/** The request of a caller with a valid token and the required role, within the rate limit of the caller. */
interface AdmittedCall {
  readonly caller: Caller;
  /** Returns the caller with the teams and roles that are current in the transaction of a change. */
  readonly callerIn: (accounts: Accounts) => Caller;
  readonly checkRecent: () => void;
  /** A directory whose changes check the caller again, and name the caller in the audit log. */
  readonly directory: Directory;
}

/**
 * Admits a caller, and finds the resource of the path.
 * @throws {Refusal} `rate_limited`, `not_found`, `not_in_team`, `forbidden`
 * @throws {SignInTooOld}
 */
export function admit(
  services: Services,
  access: Access,
  claims: Claims,
  request: Request,
  params: Params,
): AdmittedCall {
  takeRate(services, claims);
  if (claims.sub === claims.client_id) services.directory.recordApiKeyUse(claims.sub);
  const callerIn = (accounts: Accounts) => findCaller(accounts, claims);
  const caller = callerIn(services.directory);
  const found = checkAccess(access, services.directory, caller, params);
  const checkRecent = () => checkRecentSignIn(services, claims);
  if (access.recent === true) checkRecent();
  if (request.method === 'GET' || request.method === 'HEAD') {
    return { ...found, caller, callerIn, checkRecent, directory: services.directory };
  }
  // The token might be invalidated, or the role revoked, while the body arrives.
  const directory = services.directory.under({
    id: caller.id,
    address: request.remoteAddress,
    check(tx) {
      if (!services.isStillValid(claims, tx)) throw new UnauthorizedError(true);
      checkAccess(access, tx, callerIn(tx), params);
    },
  });
  return { ...found, caller, callerIn, checkRecent, directory };
}

export const tooManyRequests = 'This client has made too many requests';

/** @throws {Refusal} `rate_limited` */
function takeRate({ rates, directory }: Services, claims: Claims): void {
  const wait = rates.take(holderKey(claims), directory.clock.monotonic());
  if (wait > 0) throw new Refusal('rate_limited', tooManyRequests, wait);
}

/** Requires a new sign-in for a dangerous change (RFC 9470). */
export class SignInTooOld extends ChallengeError {
  constructor() {
    super(
      'insufficient_user_authentication',
      `This requires a sign-in within the last ${maxSignInAge / 60} minutes: sign in again`,
      `Bearer error="insufficient_user_authentication", max_age="${maxSignInAge}"`,
    );
  }
}

/**
 * Checks that the user of a token has signed in recently. API keys are exempt. A refreshed token keeps the time of the
 * original sign-in.
 * @throws {SignInTooOld}
 */
function checkRecentSignIn({ directory, findAuthTime }: Services, claims: Claims): void {
  if (claims.sub === claims.client_id) return;
  const authTime = findAuthTime(claims);
  if (authTime === undefined || !isRecentSignIn(authTime, directory.clock.now())) throw new SignInTooOld();
}

export interface Caller {
  /** Id of a user, or client id of an API key. */
  readonly id: string;
  /** The role in a team; `undefined` if the caller is not in the team, or if the client may not act in the team. */
  roleIn(teamId: string): Role | undefined;
  readonly teams: readonly string[];
  readonly primaryTeam: string;
  /** The key of the caller's session; `undefined` for an API key. */
  readonly session: string | undefined;
  /** The calling API key; `undefined` for a user. */
  readonly apiKey?: ApiKey | undefined;
}

/**
 * Returns the caller of a token. A token is valid for an hour, but each property of the caller is read from the
 * accounts when it is used. Changed teams and roles, and deletions, therefore take effect immediately. The role in a
 * user's token is only informative.
 */
export function findCaller(
  { users, apiKeys, clients }: Pick<Accounts, 'users' | 'apiKeys' | 'clients'>,
  { sub: id, client_id: clientId, sid: session }: Claims,
): Caller {
  if (id === clientId) return new ApiKeyCaller(apiKeys, id);
  const now = () => teamsThrough(users.get(id) ?? { teams: [], primaryTeam: '' }, findClient({ clients }, clientId));
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

/** An API key as caller. Its role in its team follows from its scopes. */
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
    return apiKey?.teamId === teamId ? findRole(listScopes(apiKey)) : undefined;
  }
}

/** True if a caller may reach an application of its teams. An API key can be bound to some of these applications. */
function reaches({ apiKey }: Pick<Caller, 'apiKey'>, applicationId: string): boolean {
  return apiKey?.applications?.includes(applicationId) ?? true;
}

/** Returns the applications that a caller may see. */
export function visibleTo(caller: Caller, { applications }: Pick<Accounts, 'applications'>): Application[] {
  const { teams } = caller;
  return [...applications.values()].filter(({ id, teamId }) => teams.includes(teamId) && reaches(caller, id));
}
