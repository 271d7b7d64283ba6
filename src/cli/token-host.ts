import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  clockTolerance,
  customFetch,
  genericTokenEndpointRequest,
  type HttpRequestOptions,
  None,
  processClientCredentialsResponse,
  processGenericTokenEndpointResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
  type TokenEndpointResponse,
} from 'oauth4webapi';
import type { Context } from './context.ts';
import { Failure, findFailureKind } from './failure.ts';
import { fetchWhole, notUnderstood, parseJson, readFields, readText, send } from './send.ts';
import type { StoredSession } from './token-store.ts';

/** A token host, and the options for requests to it. */
export interface TokenHost {
  /** Metadata of the host (RFC 8414). Its endpoints are below the given address. */
  readonly server: AuthorizationServer;
  readonly scopes: readonly string[];
  readonly options: HttpRequestOptions<'GET' | 'POST', URLSearchParams>;
}

/** A refused token request (RFC 6749 §5.2). */
export class GrantRefusal extends Failure {
  readonly code: string;

  constructor(kind: ConstructorParameters<typeof Failure>[0], message: string, code: string) {
    super(kind, message);
    this.code = code;
  }
}

/** @throws {Failure} */
export async function discover(context: Context, authUrl: string): Promise<TokenHost> {
  const url = `${authUrl}/.well-known/openid-configuration`;
  const { status, json } = await send(context, url, { method: 'GET' });
  const issuer = readText(json, 'issuer');
  const { scopes_supported: scopes, id_token_signing_alg_values_supported: algorithms } = readFields(json);
  if (status === 404)
    throw new Failure('failed', `${authUrl} is not a token host; use --auth-url for the token host of the server`);
  if (status !== 200 || issuer === undefined || !Array.isArray(scopes)) throw notUnderstood(url, status);
  const deviceEndpoint = readEndpoint(json, 'device_authorization_endpoint', authUrl);
  return {
    server: {
      ...serverAt(authUrl),
      issuer,
      // Every response of the authorization endpoint must name its issuer (RFC 9207 §2.4).
      authorization_response_iss_parameter_supported: true,
      ...(Array.isArray(algorithms) && { id_token_signing_alg_values_supported: algorithms.map(String) }),
      ...(deviceEndpoint !== undefined && { device_authorization_endpoint: deviceEndpoint }),
    },
    scopes: scopes.map(String),
    options: optionsFor(context, authUrl),
  };
}

/**
 * Returns the endpoints below an address. The address can differ from the issuer's address, for example through a
 * tunnel.
 */
function serverAt(authUrl: string): AuthorizationServer {
  return {
    issuer: authUrl,
    token_endpoint: `${authUrl}/connect/token`,
    revocation_endpoint: `${authUrl}/connect/revocation`,
  };
}

/**
 * Returns an endpoint of the metadata; `undefined` if it is not a web address. Also `undefined` if the endpoint uses
 * `http:`, but `authUrl` does not.
 */
function readEndpoint(json: unknown, field: string, authUrl: string): string | undefined {
  const text = readText(json, field) ?? '';
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  return protocol === 'https:' || (protocol === 'http:' && isPlain(authUrl)) ? text : undefined;
}

function isPlain(authUrl: string): boolean {
  return new URL(authUrl).protocol === 'http:';
}

/** Unencrypted requests are allowed only if the user gave an `http:` address. */
function optionsFor(context: Context, authUrl: string): TokenHost['options'] {
  return {
    [customFetch]: (url, init) => fetchWhole(context, url, init as RequestInit),
    [allowInsecureRequests]: isPlain(authUrl),
  };
}

/** Signs in as an API key (RFC 6749 §4.4). @throws {Failure} */
export async function signInAsClient(
  context: Context,
  authUrl: string,
  client: { readonly clientId: string; readonly clientSecret: string },
): Promise<StoredSession> {
  const host = await discover(context, authUrl);
  const scope = host.scopes.filter((each) => each !== 'email').join(' ');
  return requestAsClient(context, host, { ...client, authUrl, scope });
}

function requestAsClient(
  context: Context,
  host: TokenHost,
  session: SessionStart & { readonly clientSecret: string },
): Promise<StoredSession> {
  const auth = ClientSecretPost(session.clientSecret);
  return requestTokens(context, host, session, {
    request: (client) =>
      clientCredentialsGrantRequest(host.server, client, auth, { scope: session.scope }, host.options),
    process: processClientCredentialsResponse,
  });
}

/** Exchanges the token of a workload, such as a CI job, for a token of an API key (RFC 8693). @throws {Failure} */
export async function signInAsWorkload(
  context: Context,
  authUrl: string,
  clientId: string,
  token: string,
): Promise<StoredSession> {
  const host = await discover(context, authUrl);
  const scope = host.scopes.filter((each) => each !== 'email').join(' ');
  const type = 'urn:ietf:params:oauth:token-type:jwt';
  const parameters = { scope, subject_token: token, subject_token_type: type };
  const grant = 'urn:ietf:params:oauth:grant-type:token-exchange';
  return requestTokens(
    context,
    host,
    { authUrl, clientId, scope },
    {
      request: (client) => genericTokenEndpointRequest(host.server, client, None(), grant, parameters, host.options),
      process: processGenericTokenEndpointResponse,
    },
  );
}

/**
 * Renews a session by its refresh token or its stored client secret.
 * @returns `undefined` if it cannot be renewed
 * @throws {Failure}
 */
export async function renewSession(context: Context, session: StoredSession): Promise<StoredSession | undefined> {
  const { authUrl, clientSecret, refreshToken } = session;
  if (clientSecret === undefined && refreshToken === undefined) return undefined;
  const host = await discover(context, authUrl);
  try {
    if (clientSecret !== undefined)
      return { ...(await requestAsClient(context, host, { ...session, clientSecret })), clientSecret };
    return await requestTokens(context, host, session, {
      request: (client) => refreshTokenGrantRequest(host.server, client, None(), refreshToken ?? '', host.options),
      process: processRefreshTokenResponse,
    });
  } catch (error) {
    if (error instanceof GrantRefusal && ['invalid_grant', 'invalid_client'].includes(error.code)) return undefined;
    throw error;
  }
}

/** Revokes a refresh token, and with it the whole session (RFC 7009 §2.1). @throws {Failure} */
export async function revoke(
  context: Context,
  { authUrl, clientId }: Pick<StoredSession, 'authUrl' | 'clientId'>,
  refreshToken: string,
): Promise<void> {
  const options = optionsFor(context, authUrl);
  const request = revocationRequest(serverAt(authUrl), { client_id: clientId }, None(), refreshToken, options);
  await exchange(`${authUrl}/connect/revocation`, request, processRevocationResponse);
}

type SessionStart = Pick<StoredSession, 'authUrl' | 'clientId' | 'scope'>;

/** A token request, and a function that checks the response. */
interface Grant {
  request(client: Client): Promise<Response>;
  process(server: AuthorizationServer, client: Client, response: Response): Promise<TokenEndpointResponse>;
}

/** @throws {GrantRefusal | Failure} */
export async function requestTokens(
  context: Context,
  { server }: TokenHost,
  { authUrl, clientId, scope }: SessionStart,
  { request, process }: Grant,
): Promise<StoredSession> {
  const url = `${authUrl}/connect/token`;
  const client = createClient(clientId);
  const asked = context.clock.now();
  const tokens = await exchange(url, request(client), (response) => process(server, client, response));
  if (tokens.expires_in === undefined) throw notUnderstood(url, 200);
  return {
    authUrl,
    clientId,
    scope: tokens.scope ?? scope,
    accessToken: tokens.access_token,
    expiresAt: asked + tokens.expires_in * 1000,
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
  };
}

/** Returns a client that ignores the times of ID tokens, so that a machine with a wrong clock can sign in. */
function createClient(clientId: string): Client {
  return { client_id: clientId, [clockTolerance]: Number.MAX_SAFE_INTEGER };
}

/**
 * Reads the response of the token host. The library's error messages are not shown, as they might contain a token.
 * @throws {GrantRefusal | Failure}
 */
export async function exchange<T>(
  url: string,
  request: Promise<Response>,
  process: (response: Response) => Promise<T>,
): Promise<T> {
  const response = await request;
  if (response.status !== 200) throw createGrantRefusal(url, response.status, parseJson(await response.text()));
  try {
    return await process(response);
  } catch {
    throw notUnderstood(url, response.status);
  }
}

/** Reads an error of the token host (RFC 6749 §5.2). The library itself reads only errors with status 400 to 499. */
function createGrantRefusal(url: string, status: number, json: unknown): Failure {
  const code = readText(json, 'error');
  if (code === undefined) return notUnderstood(url, status);
  const description = readText(json, 'error_description') ?? 'The token host refused the request';
  const unauthorized = ['invalid_client', 'invalid_grant'].includes(code);
  return new GrantRefusal(unauthorized ? 'unauthorized' : findFailureKind(status), `${description} (${code})`, code);
}
