import type { AccountTransaction } from '../../src/accounts/account-transaction.ts';
import type { PasswordPool } from '../../src/accounts/password-pool.ts';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { ConsoleCallers } from '../../src/auth/console-session.ts';
import { provePassword } from '../../src/auth/factors/sign-in.ts';
import { type AccessClaims, issueAccessToken } from '../../src/auth/oauth/tokens.ts';
import { createBearer, isStillValid } from '../../src/auth/oauth/validation.ts';
import type { Role } from '../../src/contract/roles.ts';
import { routesFrom } from '../../src/http/endpoint.ts';
import { createRouter } from '../../src/http/router.ts';
import type { Dispatch } from '../../src/http/types.ts';
import { KeyedLimits } from '../../src/ingest/admission/rate-limits.ts';
import { UnattributedRefusals } from '../../src/ingest/ledger/ledger.ts';
import { managementApi } from '../../src/management/management-api.ts';
import type { Services } from '../../src/management/services.ts';
import { loadConfig } from '../../src/serve/config/config.ts';
import type { ApiKey, User } from '../../src/storage/lmdb/records.ts';
import { type AuthFixture, type JsonResponse, openAuthFixture, type RequestDeps } from '../auth/fixture.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';
import { send } from './support/documented-send.ts';

export const dayMs = 24 * 3_600_000;

export interface ManageFixture extends AuthFixture {
  /** Tokens by role. The outsider is an Admin of another team. */
  readonly tokens: { readonly admin: string; readonly user: string; readonly outsider: string };
  readonly otherTeamId: string;
  readonly dispatch: Dispatch;
  /** Refusals without an application. */
  readonly latestUnattributed: UnattributedRefusals;
  issueToken(role: Role, teamId: string): Promise<string>;
  /** Another token of the Admin's API key. */
  freshToken(): Promise<string>;
  /** Ids of the callers for whom a password was hashed. */
  readonly hashed: readonly string[];
  /** Sends a request to a path below `/api/v2`, by default as the Admin; a body is sent as JSON. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<JsonResponse>;
  sendTo(target: string, request: RequestDeps): Promise<JsonResponse>;
  /** Sends a request with this `Authorization` header, or without the header. */
  callWith(authorization: string | undefined, method: string, path: string, body?: unknown): Promise<JsonResponse>;
}

/**
 * Returns the endpoint dependencies that concern callers.
 * @param rate rate and burst of a client, requests per second; 0 is unlimited
 */
export function callerDeps({ settings, directory }: AuthFixture, rate = 0) {
  const callers = new ConsoleCallers(settings);
  return {
    directory,
    authenticate: createBearer(settings, (request) => callers.readClaims(request)),
    freshen: async () => undefined,
    isStillValid: (claims: AccessClaims, tx: AccountTransaction) => isStillValid(settings, claims, tx),
    findAuthTime: ({ iat }: AccessClaims) => iat,
    rates: new KeyedLimits(rate, rate),
  };
}

/** @param rate see `callerDeps` */
export async function openManageFixture(rate = 0, plans: 'fixed' | 'open' = 'open'): Promise<ManageFixture> {
  const fixture = await openAuthFixture();
  const { settings, directory, team, addClient } = fixture;
  const common = { ...callerDeps(fixture, rate), accountStore: fixture.accountStore, accounts: fixture.store };
  const hashed: string[] = [];
  const passwords: PasswordPool = {
    checkRoom: () => {},
    hash(password, randomBytes, caller) {
      hashed.push(caller);
      return cheapHash(password, randomBytes);
    },
    verify: verifyPassword,
    close: async () => {},
  };
  const signIn = {
    passwords,
    provePassword: (...sent: [User, string, string]) => provePassword({ ...settings, passwords }, ...sent),
    lifetimes: { invitation: 7 * dayMs, 'reset-link': dayMs },
    authUrl: 'https://auth.example',
  };
  const defaults = loadConfig({ argv: [], env: {}, readFile: () => '{}' });
  const latestUnattributed = new UnattributedRefusals();
  const issuerRules = { allowPrivate: false };
  const services = {
    ...common,
    ...signIn,
    plans,
    limits: defaults,
    latestUnattributed,
    issuerRules,
    /** The store is opened on first use, because few tests need it. */
    get store() {
      return temporaryUsage();
    },
  };
  const dispatch = createRouter(routesFrom(managementApi, services as unknown as Services));
  const other = await createTeam(directory, 'Other');

  const issueToken = async (role: Role, teamId: string) => issueFor((await addClient(role, teamId)).apiKey);
  function issueFor({ clientId, role, teamId }: ApiKey): Promise<string> {
    const scope = 'openid flagmeter';
    const subject = { sub: clientId, client_id: clientId, scope, role, team: [teamId], primaryTeam: teamId };
    return issueAccessToken(settings, subject);
  }

  const { apiKey } = await addClient('Admin');
  const tokens = {
    admin: await issueFor(apiKey),
    user: await issueToken('User', team.id),
    outsider: await issueToken('Admin', other.id),
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
    issueToken,
    hashed,
    freshToken: () => issueFor(apiKey),
    callWith,
    sendTo: (target, request) => send(dispatch, target, request),
    call: (method, path, body, token = tokens.admin) => callWith(`Bearer ${token}`, method, path, body),
  };
}
