import { Failure, failureOf } from './failure.ts';
import { fieldsOf, notUnderstood, send, textOf } from './send.ts';
import type { Surroundings } from './surroundings.ts';
import type { StoredSession } from './token-store.ts';

/** What a token host says of itself (RFC 8414), as far as it matters here. */
export interface TokenHost {
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Where a device asks for its codes (RFC 8628 §4); `undefined` when the host has no such grant. */
  readonly deviceEndpoint: string | undefined;
}

/** A token request that was refused (RFC 6749 §5.2). */
export class GrantRefused extends Failure {
  readonly code: string;

  constructor(kind: ConstructorParameters<typeof Failure>[0], message: string, code: string) {
    super(kind, message);
    this.code = code;
  }
}

/** Asks a token host what it can do. @throws {Failure} */
export async function discover(surroundings: Surroundings, authUrl: string): Promise<TokenHost> {
  const url = `${authUrl}/.well-known/openid-configuration`;
  const { status, json } = await send(surroundings, url, { method: 'GET' });
  const issuer = textOf(json, 'issuer');
  const { scopes_supported: scopes } = fieldsOf(json);
  if (status === 404)
    throw new Failure('failed', `${authUrl} is no token host; --auth-url names the one of the server`);
  if (status !== 200 || issuer === undefined || !Array.isArray(scopes)) throw notUnderstood(url, status);
  return {
    issuer,
    scopes: scopes.map(String),
    deviceEndpoint: webAddress(json, 'device_authorization_endpoint'),
  };
}

function webAddress(json: unknown, field: string): string | undefined {
  const text = textOf(json, field);
  return text !== undefined && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    ? text
    : undefined;
}

/** Asks for tokens for an API key (RFC 6749 §4.4). @throws {Failure} */
export async function signInAsClient(
  surroundings: Surroundings,
  authUrl: string,
  client: { readonly clientId: string; readonly clientSecret: string },
): Promise<StoredSession> {
  const { scopes } = await discover(surroundings, authUrl);
  const scope = scopes.filter((each) => each !== 'email').join(' ');
  return requestTokens(
    surroundings,
    { authUrl, clientId: client.clientId, scope },
    clientGrant(client, scope),
  );
}

/**
 * Renews a session: by its refresh token, or by the secret that is kept with it.
 * @returns `undefined` when it cannot be renewed, or not any more
 * @throws {Failure}
 */
export async function renewSession(
  surroundings: Surroundings,
  session: StoredSession,
): Promise<StoredSession | undefined> {
  const { clientId, clientSecret, refreshToken, scope } = session;
  try {
    if (clientSecret !== undefined)
      return {
        ...(await requestTokens(surroundings, session, clientGrant({ clientId, clientSecret }, scope))),
        clientSecret,
      };
    if (refreshToken === undefined) return undefined;
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
    return await requestTokens(surroundings, session, form);
  } catch (error) {
    if (error instanceof GrantRefused && ['invalid_grant', 'invalid_client'].includes(error.code))
      return undefined;
    throw error;
  }
}

/** Sends a form to the token endpoint and makes a session of the answer. @throws {GrantRefused | Failure} */
export async function requestTokens(
  surroundings: Surroundings,
  { authUrl, clientId, scope }: Pick<StoredSession, 'authUrl' | 'clientId' | 'scope'>,
  form: Readonly<Record<string, string>>,
): Promise<StoredSession> {
  const url = `${authUrl}/connect/token`;
  const asked = surroundings.clock.now();
  const { status, json } = await send(surroundings, url, { method: 'POST', body: new URLSearchParams(form) });
  if (status !== 200) throw grantRefusal(url, status, json);
  const { access_token: accessToken, expires_in: lifetime, refresh_token: refreshToken } = fieldsOf(json);
  if (typeof accessToken !== 'string' || typeof lifetime !== 'number') throw notUnderstood(url, status);
  return {
    authUrl,
    clientId,
    scope: textOf(json, 'scope') ?? scope,
    accessToken,
    expiresAt: asked + lifetime * 1000,
    ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
  };
}

function clientGrant(
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  scope: string,
): Readonly<Record<string, string>> {
  return {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope,
  };
}

/** What an error of the token host means (RFC 6749 §5.2). */
export function grantRefusal(url: string, status: number, json: unknown): Failure {
  const code = textOf(json, 'error');
  if (code === undefined) return notUnderstood(url, status);
  const description = textOf(json, 'error_description') ?? 'The token host refuses';
  const unauthorized = ['invalid_client', 'invalid_grant'].includes(code);
  return new GrantRefused(
    unauthorized ? 'unauthorized' : failureOf(status),
    `${description} (${code})`,
    code,
  );
}
