import Type from 'typebox';
import type { AccountDraft } from '../../../accounts/account-draft.ts';
import type { Directory } from '../../../accounts/directory.ts';
import { text } from '../../../contract/shapes/fields.ts';
import type { ApiKey, User } from '../../../storage/lmdb/records.ts';
import { type ClientForm, clientForm } from '../clients/client-endpoint.ts';
import {
  type AuthenticatedClient,
  checkNotExpired,
  invalidClient,
  signedInUser,
  signInClientOf,
} from '../clients/clients.ts';
import type { Form } from '../clients/form.ts';
import { OAuthError } from '../clients/oauth-error.ts';
import { redeemCode } from '../codes/codes.ts';
import type { DeviceCodes } from '../codes/device-codes.ts';
import {
  continueSession,
  endSession,
  noteReuse,
  type SessionDeps,
  startSession,
  type Turn,
  userOf,
} from '../sessions/sessions.ts';
import { isOf } from '../sessions/sign-ins.ts';
import {
  issueAccessToken,
  newTokenIdentity,
  type Subject,
  type TokenSettings,
} from '../tokens/access-token.ts';
import { isCurrent, readRefreshToken } from '../tokens/refresh-token.ts';
import { verifyWorkload, type WorkloadDeps } from '../tokens/workload-token.ts';
import { signUserTokens, type TokenAnswer, tokenAnswer } from './token-answer.ts';

interface ClientCredentialsDeps extends TokenSettings {
  /** The scope of this service, required in addition to `openid`. */
  readonly serviceScope: string;
}

/** RFC 6749 §4.4: a client acts for itself, with the role and the team of its API key. */
export const clientCredentialsGrant: ClientForm<TokenAnswer, ClientCredentialsDeps> = clientForm({
  by: apiKeyOf,
  fields: {
    grant_type: Type.Literal('client_credentials'),
    // Optional here, so that a missing scope yields `invalid_scope`.
    scope: Type.Optional(text('`openid` and the scope of this service. Both are required.')),
  },
  async handle({ client, fields }, deps) {
    const scope = checkScope(fields.scope, deps.serviceScope);
    return tokenAnswer(await issueAccessToken(deps, subjectOf(client, scope)), scope);
  },
});

/** The claims of a token with which an API key acts for itself. */
function subjectOf({ clientId, role, teamId }: ApiKey, scope: string): Subject {
  const team = { team: [teamId], primaryTeam: teamId };
  return { sub: clientId, client_id: clientId, scope, role, ...team };
}

/** @throws {OAuthError} `unauthorized_client` */
function apiKeyOf(client: AuthenticatedClient): ApiKey {
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

export const invalidCode = 'The code is not valid';

/** RFC 6749 §4.1.3 with PKCE (RFC 7636 §4.5): a code is exchanged for a session and its first tokens. */
export const authorizationCodeGrant: ClientForm<TokenAnswer, SessionDeps & TokenSettings> = clientForm({
  by: signInClientOf,
  fields: {
    grant_type: Type.Literal('authorization_code'),
    code: text('The code from the redirect.'),
    redirect_uri: text('The redirect URI of the authorization request.'),
    code_verifier: Type.String({
      pattern: '^[\\w.~-]{43,128}$',
      description: '43 to 128 letters, digits or -._~',
    }),
  },
  async handle({ client: { clientId }, fields, request }, deps) {
    const presented = {
      code: fields.code,
      clientId,
      redirectUri: fields.redirect_uri,
      verifier: fields.code_verifier,
    };
    const redemption = await redeemCode(deps, presented, request.remoteAddress, startSession);
    if (redemption.outcome !== 'exchanged') throw new OAuthError('invalid_grant', invalidCode);
    const { turn, user, nonce } = redemption;
    return signUserTokens(deps, turn, user, { scope: turn.session.scope, nonce });
  },
});

/** RFC 6749 §6: a session continues with new tokens, which replace the old ones. */
export const refreshTokenGrant: ClientForm<TokenAnswer, SessionDeps & TokenSettings> = clientForm({
  by: signInClientOf,
  fields: {
    grant_type: Type.Literal('refresh_token'),
    refresh_token: text('The latest refresh token of the session.'),
    scope: Type.Optional(text('A subset of the granted scopes.')),
  },
  async handle({ client: { clientId }, fields, request }, deps) {
    const token = readRefreshToken(fields.refresh_token);
    const redeem = (draft: AccountDraft) =>
      token && redeemRefreshToken(deps, draft, { token, clientId, scope: fields.scope });
    const refreshed = await deps.directory.under({ address: request.remoteAddress }).change(redeem);
    if (refreshed === undefined) throw new OAuthError('invalid_grant', 'The refresh token is not valid');
    const { turn, user, scope } = refreshed;
    return signUserTokens(deps, turn, user, { scope, nonce: null });
  },
});

/** A refresh token as a client sends it, and the requested scope, if any. */
interface PresentedToken {
  readonly token: NonNullable<ReturnType<typeof readRefreshToken>>;
  readonly clientId: string;
  readonly scope: string | undefined;
}

/**
 * Exchanges a refresh token for the next one; `undefined` if it is not valid. Of two requests with the same token, one
 * succeeds. Reuse of a refresh token means that it has leaked, and revokes the whole session (RFC 9700 §4.14).
 */
function redeemRefreshToken(
  deps: SessionDeps,
  draft: AccountDraft,
  { token, clientId, scope }: PresentedToken,
): { readonly turn: Turn; readonly user: User; readonly scope: string } | undefined {
  const session = draft.get('sessions', token.session);
  if (session === undefined || session.clientId !== clientId) return undefined;
  const user = userOf(deps, draft, session);
  const isReused = !isCurrent(token, session);
  if (isReused || user === undefined) {
    endSession(deps, draft, token.session);
    if (isReused) noteReuse(draft, 'refresh-token.reused', session.userId);
    return undefined;
  }
  const narrowed = narrow(session.scope, scope);
  return { turn: continueSession(deps, draft, token.sessionId, session), user, scope: narrowed };
}

/**
 * The granted scope, or the requested subset.
 * @throws {OAuthError} `invalid_scope` if it is not a subset
 */
function narrow(granted: string, wanted: string | undefined): string {
  if (wanted === undefined) return granted;
  const asked = wanted.split(' ').filter((scope) => scope !== '');
  const scopes = granted.split(' ');
  if (asked.length > 0 && asked.every((scope) => scopes.includes(scope)))
    return scopes.filter((scope) => asked.includes(scope)).join(' ');
  throw new OAuthError('invalid_scope', `scope must be a subset of: ${granted}`);
}

export const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8628 §3.4: a device polls until its user has decided, and then gets a session once. */
export const deviceCodeGrant: ClientForm<TokenAnswer, DeviceGrantDeps> = clientForm({
  by: signInClientOf,
  fields: { grant_type: Type.Literal(deviceCodeGrantType), device_code: text('The device code.') },
  handle: ({ client, fields }, deps) => poll(deps, client.clientId, fields.device_code),
});

/** The refusals of a poll (RFC 8628 §3.5). */
export const pollRefusals = {
  authorization_pending: 'The user has not decided yet',
  slow_down: 'Wait five seconds longer between polls from now on',
  access_denied: 'The user refused',
  expired_token: 'The device code has expired; start again',
} as const;

function refusal(code: keyof typeof pollRefusals): OAuthError {
  return new OAuthError(code, pollRefusals[code]);
}

type DeviceGrantDeps = SessionDeps & TokenSettings & { readonly devices: DeviceCodes };

async function poll(deps: DeviceGrantDeps, clientId: string, deviceCode: string): Promise<TokenAnswer> {
  const poll = deps.devices.poll(deviceCode, clientId);
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
  const { turn, user } = await start(deps, clientId, deviceCode);
  return signUserTokens(deps, turn, user, { scope: turn.session.scope, nonce: null });
}

/**
 * Starts the session. Of two concurrent polls, one gets it.
 * @throws {OAuthError} `access_denied` if the user has signed out or lost access to the client
 */
function start(
  deps: DeviceGrantDeps,
  clientId: string,
  deviceCode: string,
): Promise<{ readonly turn: Turn; readonly user: User }> {
  return deps.directory.change((draft) => {
    const allowance = deps.devices.take(draft, deviceCode, clientId);
    if (allowance === undefined) throw invalidDeviceCode();
    const user = signedInUser(draft, { userId: allowance.userId, clientId });
    const signIn = draft.get('signIns', allowance.signIn);
    if (user === undefined || signIn === undefined || !isOf(signIn, user))
      throw new OAuthError('access_denied', 'The user has signed out');
    return { turn: startSession(deps, draft, { ...allowance, clientId }), user };
  });
}

function invalidDeviceCode(): OAuthError {
  return new OAuthError('invalid_grant', 'The device code is not valid');
}

/** RFC 8693 §2.1. */
export const tokenExchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const subjectTokenTypes = [
  'urn:ietf:params:oauth:token-type:jwt',
  'urn:ietf:params:oauth:token-type:id_token',
];

/**
 * Lifetime of an exchanged token, seconds. The lifetime of the subject token does not limit it: some platforms issue subject
 * tokens for five minutes, which is shorter than a job.
 */
const exchangedTokenLifetime = 900;

export interface TokenExchangeDeps extends ClientCredentialsDeps, WorkloadDeps {
  readonly directory: Pick<Directory, 'apiKeys' | 'clock' | 'markApiKeyUsed'>;
}

/** A parameter of RFC 8693 that is not supported. */
const unsupported = ['actor_token', 'actor_token_type', 'resource', 'audience'];

/** RFC 8693: a workload, such as a CI job, presents a token of its platform in place of a secret. */
export const tokenExchangeGrant: ClientForm<TokenAnswer, TokenExchangeDeps> = {
  ...clientForm({
    by: trustingKeyOf,
    fields: {
      grant_type: Type.Literal(tokenExchangeGrantType),
      subject_token: text('The token of the workload: a JWT of the issuer that the API key trusts.'),
      subject_token_type: text(`${subjectTokenTypes[0]} or ${subjectTokenTypes[1]}.`),
      requested_token_type: Type.Optional(text(`${accessTokenType}, the default.`)),
      scope: Type.Optional(text('`openid` and the scope of this service. Both are required.')),
    },
    async handle({ client, fields }, deps: TokenExchangeDeps) {
      if (!subjectTokenTypes.includes(fields.subject_token_type))
        throw new OAuthError(
          'invalid_request',
          `subject_token_type must be ${subjectTokenTypes.join(' or ')}`,
        );
      if ((fields.requested_token_type ?? accessTokenType) !== accessTokenType)
        throw new OAuthError('invalid_request', `requested_token_type must be ${accessTokenType}`);
      const scope = checkScope(fields.scope, deps.serviceScope);
      const subject = await verifyWorkload(deps, client.trust, fields.subject_token, deps.clock.now());
      deps.directory.markApiKeyUsed(client.clientId, subject);
      const identity = newTokenIdentity(deps, exchangedTokenLifetime);
      const token = await issueAccessToken(deps, subjectOf(client, scope), identity);
      const beside = { expires_in: exchangedTokenLifetime, issued_token_type: accessTokenType };
      return { ...tokenAnswer(token, scope), ...beside };
    },
  }),
  identify,
};

/**
 * The API key with the `client_id` of an exchange. The subject token authenticates it.
 * @throws {OAuthError} `invalid_client`, the same for an unknown key and one without a trust; `invalid_request`
 */
function identify(
  { directory }: Pick<TokenExchangeDeps, 'directory'>,
  authorization: string | undefined,
  form: Form,
): AuthenticatedClient {
  const id = form.get('client_id') ?? '';
  const apiKey = directory.apiKeys.get(id);
  if (authorization !== undefined || apiKey?.trust === undefined)
    throw invalidClient(authorization !== undefined);
  checkNotExpired(apiKey, directory.clock.now());
  const extra = unsupported.find((name) => form.has(name));
  if (extra !== undefined) throw new OAuthError('invalid_request', `${extra} is not supported`);
  return { kind: 'api-key', id, apiKey };
}

function trustingKeyOf(client: AuthenticatedClient): ApiKey & Required<Pick<ApiKey, 'trust'>> {
  const trust = client.kind === 'api-key' ? client.apiKey.trust : undefined;
  if (client.kind !== 'api-key' || trust === undefined) throw invalidClient(false);
  return { ...client.apiKey, trust };
}
