import { randomBytes } from 'node:crypto';
import type { AccountDraft } from '../../src/accounts/account-draft.ts';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { ConsoleCallers } from '../../src/auth/console-session.ts';
import { provePassword } from '../../src/auth/factors/sign-in.ts';
import { endSessionsOf } from '../../src/auth/oauth/sessions.ts';
import { type AccessClaims, issueAccessToken } from '../../src/auth/oauth/tokens.ts';
import { createBearer, isStillValid } from '../../src/auth/oauth/validation.ts';
import type { Role } from '../../src/contract/roles.ts';
import { routesFrom } from '../../src/http/endpoint.ts';
import { createRouter } from '../../src/http/router.ts';
import type { Dispatch } from '../../src/http/types.ts';
import { KeyedLimits } from '../../src/ingest/admission/rate-limits.ts';
import { LatestUnattributed } from '../../src/ingest/ledger/ledger.ts';
import { apiKeys } from '../../src/management/api-keys.ts';
import { applications } from '../../src/management/applications.ts';
import { audit } from '../../src/management/audit.ts';
import { clients } from '../../src/management/clients.ts';
import { environments } from '../../src/management/environments.ts';
import { keys } from '../../src/management/keys.ts';
import { members } from '../../src/management/members.ts';
import { passkeys } from '../../src/management/passkeys.ts';
import { preferences } from '../../src/management/preferences.ts';
import { resetLinks } from '../../src/management/reset-links.ts';
import { deletions, unattributed } from '../../src/management/service.ts';
import { sessions } from '../../src/management/sessions.ts';
import { teams } from '../../src/management/teams.ts';
import { totp } from '../../src/management/totp.ts';
import { users } from '../../src/management/users.ts';
import { views } from '../../src/management/views.ts';
import { loadConfig } from '../../src/serve/config/config.ts';
import type { ApiKey, User } from '../../src/storage/lmdb/records.ts';
import { type Answer, type AuthFixture, openAuthFixture, type RequestDeps } from '../auth/fixture.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { send } from './support/documented-send.ts';

export const dayMs = 24 * 3_600_000;

export interface ManageFixture extends AuthFixture {
  /** Tokens by role. The outsider is an Admin of another team. */
  readonly tokens: { readonly admin: string; readonly user: string; readonly outsider: string };
  readonly otherTeamId: string;
  readonly dispatch: Dispatch;
  /** Refusals without an application. */
  readonly latestUnattributed: LatestUnattributed;
  tokenOf(role: Role, teamId: string): Promise<string>;
  /** Another token of the Admin's API key. */
  freshToken(): Promise<string>;
  /** The callers for whom a password was hashed. */
  readonly hashed: readonly string[];
  /** Sends a request to a path below `/api/v2`, by default as the Admin; a body is sent as JSON. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  sendTo(target: string, request: RequestDeps): Promise<Answer>;
  /** Sends a request with this `Authorization` header, or none. */
  callWith(authorization: string | undefined, method: string, path: string, body?: unknown): Promise<Answer>;
}

/** What endpoints need to know their callers. @param rate and burst of a client, requests per second; default unlimited */
export function callerDeps({ settings, directory }: AuthFixture, rate = 0) {
  const callers = new ConsoleCallers(settings);
  return {
    directory,
    authenticate: createBearer(settings, (request) => callers.claimsOf(request)),
    freshen: async () => undefined,
    isStillValid: (claims: AccessClaims, draft: AccountDraft) => isStillValid(settings, claims, draft),
    authTimeOf: ({ iat }: AccessClaims) => iat,
    rates: new KeyedLimits(rate, rate),
  };
}

/** @param rate as for `callerDeps` */
export async function openManageFixture(rate = 0, plans: 'fixed' | 'open' = 'open'): Promise<ManageFixture> {
  const fixture = await openAuthFixture();
  const { settings, directory, team, addClient } = fixture;
  const parts = {
    ...callerDeps(fixture, rate),
    accountStore: fixture.accountStore,
    accounts: fixture.store,
  };
  const passwords = {
    checkRoom: () => {},
    hash: cheapHash,
    verify: verifyPassword,
    close: async () => {},
  };
  const hashed: string[] = [];
  const signIn = {
    hashPassword: (password: string, caller: string) => {
      hashed.push(caller);
      return passwords.hash(password, randomBytes);
    },
    provePassword: (...sent: [User, string, string]) => provePassword({ ...settings, passwords }, ...sent),
    endSessions: (draft: AccountDraft, userId: string) => endSessionsOf(settings, draft, userId),
    lifetimes: { invitation: 7 * dayMs, 'reset-link': dayMs },
    linkUrl: (token: string) => `https://auth.example/connect/invitation#${token}`,
  };
  const groups = [
    audit,
    deletions,
    applications,
    environments,
    views,
    keys,
    teams,
    members,
    apiKeys,
    clients,
    users,
    resetLinks,
    passkeys,
    preferences,
    totp,
    sessions,
    unattributed,
  ];
  const defaults = loadConfig({ argv: [], env: {}, readFile: () => '{}' });
  const latestUnattributed = new LatestUnattributed();
  const trustRules = { allowPrivate: false };
  const shown = { latestUnattributed, refusedTokens: () => [] };
  const deps = { ...parts, ...signIn, plans, limits: defaults, ...shown, trustRules };
  const dispatch = createRouter(routesFrom(groups, deps));
  const other = await createTeam(directory, 'Other');

  const tokenOf = async (role: Role, teamId: string) => issueFor((await addClient(role, teamId)).apiKey);
  function issueFor({ clientId, role, teamId }: ApiKey): Promise<string> {
    const scope = 'openid flagmeter';
    const subject = { sub: clientId, client_id: clientId, scope, role, team: [teamId], primaryTeam: teamId };
    return issueAccessToken(settings, subject);
  }

  const { apiKey } = await addClient('Admin');
  const tokens = {
    admin: await issueFor(apiKey),
    user: await tokenOf('User', team.id),
    outsider: await tokenOf('Admin', other.id),
  };
  const callWith: ManageFixture['callWith'] = (authorization, method, path, body) =>
    send(dispatch, `/api/v2${path}`, {
      method,
      headers: authorization === undefined ? {} : { authorization },
      body: body === undefined ? '' : JSON.stringify(body),
    });
  return {
    ...fixture,
    tokens,
    otherTeamId: other.id,
    dispatch,
    latestUnattributed,
    tokenOf,
    hashed,
    freshToken: () => issueFor(apiKey),
    callWith,
    sendTo: (target, request) => send(dispatch, target, request),
    call: (method, path, body, token = tokens.admin) => callWith(`Bearer ${token}`, method, path, body),
  };
}
