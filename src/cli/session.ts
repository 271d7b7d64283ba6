import { clientVariables } from '../contract/client-variables.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { UsageError } from './options.ts';
import { readSecret } from './secret-file.ts';
import { readServerUrl, usualUrl } from './server-url.ts';
import { openTokenStore, type StoredSession, type TokenStore, withSession } from './token-store.ts';

/** Minimum remaining lifetime of an access token, ms. A token that expires earlier is renewed before use. */
const minLifeMs = 30_000;

/** Loads the module of the token host only for a token request, because most commands use a stored token. */
const tokenHost = () => import('./token-host.ts');

export interface Access {
  /** Returns an access token, renewed if it has expired. @throws {Failure} without a session */
  token(): Promise<string>;
  /** Returns a new token in place of a refused token. @throws {Failure} if the session cannot be renewed */
  replace(refused: string): Promise<string>;
}

/**
 * Returns the address in `--url`, `FLAGMETER_URL`, the last login, or the default, in this order. @throws {UsageError}
 */
export function resolveServerUrl(context: Context, option: string | undefined): string {
  if (option !== undefined) return readServerUrl(option, '--url');
  const variable = context.env[clientVariables.url];
  if (variable) return readServerUrl(variable, clientVariables.url);
  return openTokenStore(context).read().current ?? usualUrl;
}

/** Returns the address in `--auth-url` or `FLAGMETER_AUTH_URL`, else the address of the server. @throws {UsageError} */
export function resolveAuthUrl({ env }: Context, option: string | undefined, url: string): string {
  if (option !== undefined) return readServerUrl(option, '--auth-url');
  const variable = env['FLAGMETER_AUTH_URL'];
  return variable ? readServerUrl(variable, 'FLAGMETER_AUTH_URL') : url;
}

/** Uses a token or an API key from the environment, or else the last login at the server. @throws {UsageError} */
export function openAccess(context: Context, url: string): Access {
  const { env } = context;
  const token = env[clientVariables.token];
  if (token) return givenAccess(token);
  const clientId = env[clientVariables.clientId];
  const clientSecret = env[clientVariables.clientSecret];
  const tokenFile = env[clientVariables.workloadTokenFile];
  if (clientId && clientSecret)
    return clientAccess(context, url, async (authUrl) =>
      (await tokenHost()).signInAsClient(context, authUrl, { clientId, clientSecret }),
    );
  if (clientId && tokenFile)
    return clientAccess(context, url, (authUrl) => {
      // The file is read each time, because the platform replaces the token before it expires.
      const token = readSecret(clientVariables.workloadTokenFile, tokenFile, context);
      return tokenHost().then(({ signInAsWorkload }) => signInAsWorkload(context, authUrl, clientId, token));
    });
  if (clientId) throw halfOfKey(clientVariables.clientId, clientVariables.clientSecret);
  if (tokenFile) throw halfOfKey(clientVariables.workloadTokenFile, clientVariables.clientId);
  if (clientSecret) throw halfOfKey(clientVariables.clientSecret, clientVariables.clientId);
  return storedAccess(context, url, openTokenStore(context));
}

export function describeSource({ env }: Context): string {
  if (env[clientVariables.token]) return `the token in ${clientVariables.token}`;
  if (env[clientVariables.clientId]) return `the API key in ${clientVariables.clientId}`;
  return 'the last login';
}

/**
 * Returns the error for an API key whose id or secret is missing. Otherwise, commands would act as the user of the last
 * login.
 */
export function halfOfKey(set: string, missing: string): UsageError {
  return new UsageError(`Cannot use ${set} without ${missing}: set both, or neither to use the last login`);
}

function givenAccess(token: string): Access {
  return {
    token: async () => token,
    replace: async () => {
      throw new Failure('unauthorized', `The server rejects the token in ${clientVariables.token}`);
    },
  };
}

function clientAccess(context: Context, url: string, signIn: (authUrl: string) => Promise<StoredSession>): Access {
  let session: Promise<StoredSession> | undefined;
  const begin = async () => {
    session = signIn(resolveAuthUrl(context, undefined, url));
    return (await session).accessToken;
  };
  return { token: async () => (session === undefined ? begin() : (await session).accessToken), replace: begin };
}

function storedAccess(context: Context, url: string, store: TokenStore): Access {
  const isFresh = ({ expiresAt }: StoredSession) => expiresAt - context.clock.now() > minLifeMs;
  const find = () => {
    const session = store.read().servers[url];
    if (session === undefined) throw signInFirst(url, `Not signed in to ${url}`);
    return session;
  };
  // Only one process at a time renews the session, because reusing a refresh token ends the session.
  const renew = (isGood: (session: StoredSession) => boolean) =>
    store.exclusively(async () => {
      const session = find();
      if (isGood(session)) return session.accessToken; // Another process has renewed the session.
      const next = await (await tokenHost()).renewSession(context, session);
      store.write(withSession(store.read(), url, next));
      if (next === undefined) throw signInFirst(url, `The session at ${url} has ended`);
      return next.accessToken;
    });
  return {
    token: async () => {
      const session = find();
      return isFresh(session) ? session.accessToken : renew(isFresh);
    },
    replace: (refused) => renew((session) => session.accessToken !== refused && isFresh(session)),
  };
}

/** Returns a failure that a new sign-in fixes. */
export function signInFirst(url: string, why: string): Failure {
  return new Failure('unauthorized', `${why}; sign in with: flagmeter login --url ${url}`);
}
