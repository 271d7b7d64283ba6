import { createHash, randomBytes } from 'node:crypto';
import { createClient, type NewClient } from '../../src/accounts/clients.ts';
import { openDirectory } from '../../src/accounts/directory.ts';
import { EmbeddedAccountStore } from '../../src/accounts/store/embedded.ts';
import { createUser } from '../../src/accounts/users.ts';
import { endSessionEndpoints } from '../../src/auth/browser/end-session.ts';
import { type Browser, BrowserCookie, renewBrowser } from '../../src/auth/cookies/browser.ts';
import { issueCode } from '../../src/auth/oauth/codes.ts';
import { introspectionEndpoint } from '../../src/auth/oauth/introspection.ts';
import { revocationEndpoint, tokenInvalidation } from '../../src/auth/oauth/revocation.ts';
import { startSignIn } from '../../src/auth/oauth/sign-ins.ts';
import { tokenEndpoint } from '../../src/auth/oauth/token-endpoint.ts';
import { createBearer, UnauthorizedError } from '../../src/auth/oauth/validation.ts';
import { routesFrom } from '../../src/http/endpoint.ts';
import { createRouter } from '../../src/http/router.ts';
import type { Dispatch } from '../../src/http/types.ts';
import type { AuthorizationCode } from '../../src/storage/lmdb/auth-records.ts';
import type { User } from '../../src/storage/lmdb/records.ts';
import { type Fixture, openTestStore, testHealth } from '../accounts/fixture.ts';
import { bind } from './bind.ts';
import { expectDocumented } from './conformance.ts';
import {
  type AuthFixture,
  type AuthSettings,
  createRequest,
  createSettings,
  type JsonResponse,
  openAuthFixture,
  type RequestDeps,
  send,
} from './fixture.ts';

export const redirectUri = 'https://shop.example/callback';
export const verifier = 'v'.repeat(43);
export const allScopes = 'openid email flagmeter';

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/** A browser in which the user is signed in. */
export interface SignedInBrowser {
  /** The key of the sign-in. */
  readonly key: string;
  readonly cookie: string;
}

export interface SessionFixture extends AuthFixture {
  readonly user: User;
  /** `shop` is a confidential client of the team, and `app` is a public client. */
  readonly shop: NewClient;
  readonly app: NewClient;
  readonly dispatch: Dispatch;
  /** The credentials that a client sends in a form. */
  credentials(client: NewClient): Record<string, string>;
  signIn(user?: User): Promise<SignedInBrowser>;
  /** Issues a code, by default for the client `shop`. */
  code(made?: Partial<AuthorizationCode>): Promise<string>;
  post(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<JsonResponse>;
  /** Exchanges a code, by default as the client `shop`. */
  exchange(code: string, sent?: Record<string, string>): Promise<JsonResponse>;
  refresh(refreshToken: string, sent?: Record<string, string>): Promise<JsonResponse>;
  tokens(made?: Partial<AuthorizationCode>, client?: NewClient): Promise<Tokens>;
  /** The status of a request of the management API. */
  call(accessToken: string): Promise<number>;
  /** The audit log entries with these actions. */
  audited(action: string): readonly object[];
  /** Closes the store and opens it again, as a new process does. */
  restart(): Promise<SessionFixture>;
  beside(stores: Pick<SessionFixture, 'store' | 'health' | 'accountStore'>): SessionFixture;
}

/** Creates a user and two clients, and opens every endpoint that accepts tokens. Parameters as in `openAuthFixture`. */
export async function openSessionFixture(tokenRate = 0, base?: Fixture): Promise<SessionFixture> {
  const fixture = await openAuthFixture(tokenRate, base);
  const { directory, team } = fixture;
  const user = await createUser(directory, {
    email: 'ada@example.com',
    name: 'Ada',
    role: 'Admin',
    teams: [team.id],
    passwordHash: '',
  });
  const wanted = { teamId: team.id, redirectUris: [redirectUri] };
  const shop = await createClient(directory, { ...wanted, name: 'Shop', confidential: true });
  const app = await createClient(directory, { ...wanted, name: 'App', confidential: false });
  return withSessions(fixture, user, shop, app);
}

function withSessions(fixture: AuthFixture, user: User, shop: NewClient, app: NewClient): SessionFixture {
  const { settings, store, data, clock, signingKey } = fixture;
  const dispatch = createRoutes(settings);
  const post: SessionFixture['post'] = async (path, form, headers = {}) => {
    const response = await send(dispatch, path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    });
    if (path.startsWith('/connect/')) expectDocumented(`POST ${path}`, response);
    return response;
  };
  const credentials: SessionFixture['credentials'] = ({ client, clientSecret }) => ({
    client_id: client.clientId,
    ...(clientSecret === null ? {} : { client_secret: clientSecret }),
  });
  const beside: SessionFixture['beside'] = (stores) => {
    const directory = openDirectory(stores.accountStore, { clock, randomBytes });
    const other = { ...fixture, ...stores, directory };
    return withSessions({ ...other, settings: createSettings(other, signingKey) }, user, shop, app);
  };
  const signIn = (who = user) => signInTo(settings, who);
  const code: SessionFixture['code'] = async (made = {}) =>
    issueCode(settings, { ...createGrant(shop, user), signIn: made.signIn ?? (await signIn()).key, ...made });
  const exchange: SessionFixture['exchange'] = (text, sent = {}) =>
    post('/connect/token', {
      grant_type: 'authorization_code',
      code: text,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...credentials(shop),
      ...sent,
    });
  return {
    ...fixture,
    user,
    shop,
    app,
    dispatch,
    credentials,
    signIn,
    code,
    post,
    exchange,
    refresh: (refreshToken, sent = {}) =>
      post('/connect/token', {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        ...credentials(shop),
        ...sent,
      }),
    async tokens(made = {}, client = shop) {
      const text = await code({ clientId: client.client.clientId, ...made });
      const form = { client_id: '', client_secret: '', ...credentials(client) };
      return (await exchange(text, form)).json;
    },
    call: async (token) =>
      (await dispatch(createRequest('/api', { headers: { authorization: `Bearer ${token}` } }))).status,
    audited: (action) =>
      Array.from(store.audit.getRange(), ({ value }) => value).filter((entry) => entry.action === action),
    async restart() {
      await store.lmdb.close();
      const fresh = openTestStore(data);
      const health = testHealth();
      return beside({ store: fresh, health, accountStore: new EmbeddedAccountStore(fresh, health) });
    },
    beside,
  };
}

function createGrant({ client }: NewClient, { id }: User): Omit<AuthorizationCode, 'signIn' | 'expiresAt' | 'session'> {
  return {
    clientId: client.clientId,
    redirectUri,
    challenge: createHash('sha256').update(verifier).digest('base64url'),
    userId: id,
    scope: allScopes,
    nonce: null,
    authTime: 1_700_000_000,
  };
}

async function signInTo(settings: AuthSettings, user: User): Promise<SignedInBrowser> {
  const browser: Browser = renewBrowser(undefined, randomBytes);
  const now = settings.clock.now();
  const authentication = { factors: ['password'], userAgent: '' } as const;
  const { key } = await settings.accountStore.change((tx) => startSignIn(tx, user, { browser, authentication, now }));
  const [cookie = ''] = new BrowserCookie(settings.issuer).write(browser).split(';');
  return { key, cookie };
}

function createRoutes(settings: AuthSettings): Dispatch {
  const authenticate = createBearer(settings);
  return createRouter([
    ...bind([tokenEndpoint, revocationEndpoint, introspectionEndpoint, ...endSessionEndpoints], settings),
    ...routesFrom([tokenInvalidation], settings),
    {
      method: 'GET',
      path: '/api',
      async handle(request) {
        try {
          await authenticate(request);
          return { status: 200 };
        } catch (error) {
          if (error instanceof UnauthorizedError) return { status: 401 };
          throw error;
        }
      },
    },
  ]);
}

/** Sends a browser's request, whose response is not JSON. */
export async function browse(
  { dispatch }: Pick<SessionFixture, 'dispatch'>,
  target: string,
  options?: RequestDeps,
): Promise<{ status: number; headers: Readonly<Record<string, string>>; text: string }> {
  const { status, headers = {}, body = '' } = await dispatch(createRequest(target, options));
  return { status, headers, text: String(body) };
}
