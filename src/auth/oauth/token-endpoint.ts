/*
 * src/auth/oauth: the endpoints of clients. forms.ts reads a form, clients.ts authenticates its sender, and
 * token-endpoint.ts responds with tokens (tokens.ts), signed by key-ring.ts. validation.ts checks access tokens.
 * codes.ts and device-codes.ts turn the sign-ins of browsers (sign-ins.ts) into sessions of clients (sessions.ts).
 */
import Type, { type Static } from 'typebox';
import type { AccountTransaction } from '../../accounts/account-transaction.ts';
import { count, type DeepReadonly, shape, text } from '../../contract/shapes/fields.ts';
import { type Endpoint, jsonResponse } from '../../http/endpoint.ts';
import type { ApiKey, User } from '../../storage/lmdb/records.ts';
import {
  type AuthenticatedClient,
  apiKeyRefused,
  checkNotExpired,
  type Form,
  findClient,
  invalidClient,
  requireSignInClient,
  signedInUser,
  teamsThrough,
} from './clients.ts';
import { redeemCode } from './codes.ts';
import type { ClientServices } from './forms.ts';
import { type ClientForm, clientEndpoint, clientForm } from './forms.ts';
import { accessTokenLifetime } from './key-ring.ts';
import { OAuthError } from './oauth-error.ts';
import type { Services } from './services.ts';
import {
  continueSession,
  endSession,
  findSessionUser,
  type IssuedSession,
  isCurrent,
  noteReuse,
  readRefreshToken,
  startSession,
} from './sessions.ts';
import { isValidFor } from './sign-ins.ts';
import { issueAccessToken, issueIdToken, newTokenIdentity, type Subject } from './tokens.ts';
import { verifyWorkload } from './workload-token.ts';

/** The response of the token endpoint (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). */
const TokenResponse = shape(
  'Tokens',
  {
    access_token: text('A JWT, for `Authorization: Bearer`.'),
    expires_in: count('Lifetime of the access token, in seconds.'),
    token_type: Type.Literal('Bearer'),
    scope: text('The granted scopes, separated by spaces.'),
    refresh_token: Type.Optional(text('The token for the next refresh, valid once. Only for users.')),
    issued_token_type: Type.Optional(text('The type of the token, if it was exchanged (RFC 8693 §2.2.1).')),
    id_token: Type.Optional(text('Identifies the user (OpenID Connect Core §2). Only for users.')),
  },
  { access_token: 'eyJ…', expires_in: accessTokenLifetime, token_type: 'Bearer', scope: 'openid flagmeter' },
);
type TokenResponse = DeepReadonly<Static<typeof TokenResponse>>;

function createTokenResponse(
  accessToken: string,
  scope: string,
  beside: Pick<TokenResponse, 'refresh_token' | 'id_token'> = {},
): TokenResponse {
  return { access_token: accessToken, expires_in: accessTokenLifetime, token_type: 'Bearer', scope, ...beside };
}

/**
 * Signs the tokens of a session, which must be on disk.
 * @param scope of the access token: the scope of the session, or a subset
 * @param nonce for the ID token, which is issued if the scope includes `openid`
 */
async function signUserTokens(
  services: Services,
  { key, session, refreshToken, access }: IssuedSession,
  user: User,
  { scope, nonce }: { readonly scope: string; readonly nonce: string | null },
): Promise<TokenResponse> {
  const { clientId, authTime } = session;
  const scopes = scope.split(' ');
  const { teams, primaryTeam } = teamsThrough(user, findClient(services.directory, clientId));
  const subject = {
    sub: user.id,
    client_id: clientId,
    scope,
    role: user.role,
    team: [...teams],
    primaryTeam,
    email: user.email,
    name: user.name,
    sid: key,
  };
  const [accessToken, idToken] = await Promise.all([
    issueAccessToken(services, subject, access),
    scopes.includes('openid')
      ? issueIdToken(services, { user, clientId, session: key, scopes, authTime, nonce })
      : undefined,
  ]);
  return createTokenResponse(accessToken, scope, {
    refresh_token: refreshToken,
    ...(idToken === undefined ? {} : { id_token: idToken }),
  });
}

/** Grant of RFC 6749 §4.4: a client acts for itself, with the role and the team of its API key. */
const clientCredentialsGrant: ClientForm<TokenResponse> = clientForm({
  by: requireApiKey,
  fields: {
    grant_type: Type.Literal('client_credentials'),
    // Optional in the schema, so that a missing scope yields `invalid_scope`.
    scope: Type.Optional(text('`openid` and the scope of this service. Both are required.')),
  },
  async handle({ client, fields }, services) {
    const scope = checkScope(fields.scope, services.serviceScope);
    return createTokenResponse(await issueAccessToken(services, createSubject(client, scope)), scope);
  },
});

function createSubject({ clientId, role, teamId }: ApiKey, scope: string): Subject {
  const team = { team: [teamId], primaryTeam: teamId };
  return { sub: clientId, client_id: clientId, scope, role, ...team };
}

/** @throws {OAuthError} `unauthorized_client` */
function requireApiKey(client: AuthenticatedClient): ApiKey {
  if (client.kind === 'api-key') return client.apiKey;
  throw new OAuthError('unauthorized_client', 'A client that people sign in to cannot act for itself');
}

/**
 * Requires exactly the two supported scopes.
 * @throws {OAuthError} `invalid_scope`
 */
function checkScope(asked: string | undefined, serviceScope: string): string {
  if (asked === `openid ${serviceScope}`) return asked;
  const scopes = new Set((asked ?? '').split(' ').filter((scope) => scope !== ''));
  if (scopes.size === 2 && scopes.has('openid') && scopes.has(serviceScope)) return `openid ${serviceScope}`;
  throw new OAuthError('invalid_scope', `scope must be: openid ${serviceScope}`);
}

const invalidCode = 'The code is not valid';

/** Grant of RFC 6749 §4.1.3 with PKCE (RFC 7636 §4.5): a code is exchanged for a session and its first tokens. */
const authorizationCodeGrant: ClientForm<TokenResponse> = clientForm({
  by: requireSignInClient,
  fields: {
    grant_type: Type.Literal('authorization_code'),
    code: text('The code from the redirect.'),
    redirect_uri: text('The redirect URI of the authorization request.'),
    code_verifier: Type.String({ pattern: '^[\\w.~-]{43,128}$', description: '43 to 128 letters, digits or -._~' }),
  },
  async handle({ client: { clientId }, fields, request }, services) {
    const presented = { code: fields.code, clientId, redirectUri: fields.redirect_uri, verifier: fields.code_verifier };
    const redemption = await redeemCode(services, presented, request.remoteAddress, startSession);
    if (redemption.outcome !== 'exchanged') throw new OAuthError('invalid_grant', invalidCode);
    const { issued, user, nonce } = redemption;
    return signUserTokens(services, issued, user, { scope: issued.session.scope, nonce });
  },
});

/** Grant of RFC 6749 §6: a session continues with new tokens, which replace the old ones. */
const refreshTokenGrant: ClientForm<TokenResponse> = clientForm({
  by: requireSignInClient,
  fields: {
    grant_type: Type.Literal('refresh_token'),
    refresh_token: text('The latest refresh token of the session.'),
    scope: Type.Optional(text('A subset of the granted scopes.')),
  },
  async handle({ client: { clientId }, fields, request }, services) {
    const token = readRefreshToken(fields.refresh_token);
    const redeem = (tx: AccountTransaction) =>
      token && redeemRefreshToken(services, tx, { token, clientId, scope: fields.scope });
    const refreshed = await services.directory.under({ address: request.remoteAddress }).change(redeem);
    if (refreshed === undefined) throw new OAuthError('invalid_grant', 'The refresh token is not valid');
    const { issued, user, scope } = refreshed;
    return signUserTokens(services, issued, user, { scope, nonce: null });
  },
});

interface PresentedToken {
  readonly token: NonNullable<ReturnType<typeof readRefreshToken>>;
  readonly clientId: string;
  readonly scope: string | undefined;
}

/**
 * Exchanges a refresh token for the next one; `undefined` if the token is not valid. Of two requests with the same
 * token, one succeeds. A reused token has leaked, so its whole session is revoked (RFC 9700 §4.14).
 */
function redeemRefreshToken(
  services: Services,
  tx: AccountTransaction,
  { token, clientId, scope }: PresentedToken,
): { readonly issued: IssuedSession; readonly user: User; readonly scope: string } | undefined {
  const session = tx.get('sessions', token.session);
  if (session === undefined || session.clientId !== clientId) return undefined;
  const user = findSessionUser(services, tx, session);
  const isReused = !isCurrent(token, session);
  if (isReused || user === undefined) {
    endSession(services, tx, token.session);
    if (isReused) noteReuse(tx, 'refresh-token.reused', session.userId);
    return undefined;
  }
  const narrowed = narrow(session.scope, scope);
  return { issued: continueSession(services, tx, token.sessionId, session), user, scope: narrowed };
}

/**
 * The granted scope, or the requested subset.
 * @throws {OAuthError} `invalid_scope` if the requested scope is not a subset
 */
function narrow(granted: string, wanted: string | undefined): string {
  if (wanted === undefined) return granted;
  const asked = wanted.split(' ').filter((scope) => scope !== '');
  const scopes = granted.split(' ');
  if (asked.length > 0 && asked.every((scope) => scopes.includes(scope)))
    return scopes.filter((scope) => asked.includes(scope)).join(' ');
  throw new OAuthError('invalid_scope', `scope must be a subset of: ${granted}`);
}

const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** Grant of RFC 8628 §3.4: a device polls until its user has decided, and then gets a session once. */
const deviceCodeGrant: ClientForm<TokenResponse> = clientForm({
  by: requireSignInClient,
  fields: { grant_type: Type.Literal(deviceCodeGrantType), device_code: text('The device code.') },
  handle: ({ client, fields }, services) => poll(services, client.clientId, fields.device_code),
});

/** Refusals of a poll (RFC 8628 §3.5). */
const pollRefusals = {
  authorization_pending: 'The user has not decided yet',
  slow_down: 'Wait five seconds longer between polls from now on',
  access_denied: 'The user denied access',
  expired_token: 'The device code has expired; start again',
} as const;

function refusal(code: keyof typeof pollRefusals): OAuthError {
  return new OAuthError(code, pollRefusals[code]);
}

async function poll(services: ClientServices, clientId: string, deviceCode: string): Promise<TokenResponse> {
  const poll = services.devices.poll(deviceCode, clientId);
  switch (poll.outcome) {
    case 'pending':
      throw refusal('authorization_pending');
    case 'too-soon':
      throw refusal('slow_down');
    case 'denied':
      throw refusal('access_denied');
    case 'expired':
      throw refusal('expired_token');
    case 'unknown':
      throw invalidDeviceCode();
  }
  const { issued, user } = await start(services, clientId, deviceCode);
  return signUserTokens(services, issued, user, { scope: issued.session.scope, nonce: null });
}

/**
 * Starts the session of a device. Of two concurrent polls, only one gets the session.
 * @throws {OAuthError} `access_denied` if the user has signed out or lost access to the client
 */
function start(
  services: ClientServices,
  clientId: string,
  deviceCode: string,
): Promise<{ readonly issued: IssuedSession; readonly user: User }> {
  return services.directory.change((tx) => {
    const allowance = services.devices.take(tx, deviceCode, clientId);
    if (allowance === undefined) throw invalidDeviceCode();
    const user = signedInUser(tx, { userId: allowance.userId, clientId });
    const signIn = tx.get('signIns', allowance.signIn);
    if (user === undefined || signIn === undefined || !isValidFor(signIn, user))
      throw new OAuthError('access_denied', 'The user has signed out');
    return { issued: startSession(services, tx, { ...allowance, clientId }), user };
  });
}

function invalidDeviceCode(): OAuthError {
  return new OAuthError('invalid_grant', 'The device code is not valid');
}

/** The `grant_type` of a token exchange (RFC 8693 §2.1). */
const tokenExchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const subjectTokenTypes = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token'];

/**
 * Lifetime of an exchanged token, seconds. It can exceed the lifetime of the subject token. On some platforms, that
 * token expires after five minutes, before the end of a job.
 */
const exchangedTokenLifetime = 900;

/** Parameters of RFC 8693 that are not supported. */
const unsupported = ['actor_token', 'actor_token_type', 'resource', 'audience'];

/** Grant of RFC 8693: a workload, such as a CI job, presents a token of its platform in place of a secret. */
const tokenExchangeGrant: ClientForm<TokenResponse> = {
  ...clientForm({
    by: requireTrustingKey,
    fields: {
      grant_type: Type.Literal(tokenExchangeGrantType),
      subject_token: text('The token of the workload: a JWT of the issuer that the API key trusts.'),
      subject_token_type: text(`${subjectTokenTypes[0]} or ${subjectTokenTypes[1]}.`),
      requested_token_type: Type.Optional(text(`${accessTokenType}, the default.`)),
      scope: Type.Optional(text('`openid` and the scope of this service. Both are required.')),
    },
    async handle({ client, fields }, services) {
      if (!subjectTokenTypes.includes(fields.subject_token_type))
        throw new OAuthError('invalid_request', `subject_token_type must be ${subjectTokenTypes.join(' or ')}`);
      if ((fields.requested_token_type ?? accessTokenType) !== accessTokenType)
        throw new OAuthError('invalid_request', `requested_token_type must be ${accessTokenType}`);
      const scope = checkScope(fields.scope, services.serviceScope);
      const subject = await verifyWorkload(
        services.issuerKeys,
        client.trust,
        fields.subject_token,
        services.clock.now(),
      );
      services.directory.recordApiKeyUse(client.clientId, subject);
      const identity = newTokenIdentity(services, exchangedTokenLifetime);
      const token = await issueAccessToken(services, createSubject(client, scope), identity);
      const beside = { expires_in: exchangedTokenLifetime, issued_token_type: accessTokenType };
      return { ...createTokenResponse(token, scope), ...beside };
    },
  }),
  identify,
};

/**
 * Finds the API key with the `client_id` of an exchange. The client is authenticated later, by the subject token.
 * @throws {OAuthError} `invalid_client`, the same for an unknown key and a key that trusts no issuer; `invalid_request`
 */
function identify({ directory }: ClientServices, authorization: string | undefined, form: Form): AuthenticatedClient {
  const id = form.get('client_id') ?? '';
  const apiKey = directory.apiKeys.get(id);
  if (authorization !== undefined || apiKey?.trust === undefined) throw invalidClient(authorization !== undefined);
  checkNotExpired(apiKey, directory.clock.now());
  const extra = unsupported.find((name) => form.has(name));
  if (extra !== undefined) throw new OAuthError('invalid_request', `${extra} is not supported`);
  return { kind: 'api-key', id, apiKey };
}

function requireTrustingKey(client: AuthenticatedClient): ApiKey & Required<Pick<ApiKey, 'trust'>> {
  const trust = client.kind === 'api-key' ? client.apiKey.trust : undefined;
  if (client.kind !== 'api-key' || trust === undefined) throw invalidClient(false);
  return { ...client.apiKey, trust };
}

const grants = new Map<string, ClientForm<TokenResponse>>([
  ['authorization_code', counted('authorization_code', authorizationCodeGrant)],
  ['client_credentials', counted('client_credentials', clientCredentialsGrant)],
  ['refresh_token', counted('refresh_token', refreshTokenGrant)],
  [tokenExchangeGrantType, counted('token_exchange', tokenExchangeGrant)],
  [deviceCodeGrantType, counted('device_code', deviceCodeGrant)],
]);

export const grantTypes: readonly string[] = [...grants.keys()];

const unknownGrant = `grant_type must be client_credentials, authorization_code, refresh_token, ${deviceCodeGrantType} or ${tokenExchangeGrantType}`;

/** `POST /connect/token` (RFC 6749 §3.2). */
export const tokenEndpoint: Endpoint<ClientServices> = clientEndpoint('/connect/token', {
  operationId: 'issueTokens',
  summary: 'Get tokens',
  description:
    'API keys use `client_credentials`, or a token exchange if they trust an issuer. Clients that people sign in to use the other grants. `grant_type` decides which fields are read.',
  who: 'API keys: `client_credentials` and token exchange; sign-in clients: the other grants',
  forms: [...grants.values()],
  choose,
  response: jsonResponse(TokenResponse, 'The tokens.'),
  refuses: {
    invalid_grant: invalidCode,
    unauthorized_client: apiKeyRefused,
    unsupported_grant_type: unknownGrant,
    invalid_scope: 'scope must be: openid flagmeter',
    ...pollRefusals,
  },
});

function choose(form: Form): ClientForm<TokenResponse> {
  const type = form.get('grant_type');
  if (type === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
  const grant = grants.get(type);
  if (grant !== undefined) return grant;
  throw new OAuthError('unsupported_grant_type', unknownGrant);
}

function counted(type: string, grant: ClientForm<TokenResponse>): ClientForm<TokenResponse> {
  return {
    ...grant,
    async respond(client, form, request, services) {
      const tokens = await grant.respond(client, form, request, services);
      services.totals.countIssued(type);
      return tokens;
    },
  };
}
