import type { Accounts } from '../../accounts/accounts.ts';
import { isUsable, verifyClient } from '../../accounts/api-keys.ts';
import { isSameRedirect } from '../../accounts/clients.ts';
import type { Directory } from '../../accounts/directory.ts';
import { originMatcher } from '../../accounts/origins.ts';
import { matchesHash } from '../../accounts/secrets.ts';
import { decodeFormText } from '../../http/pairs.ts';
import type { Request } from '../../http/types.ts';
import { KeyedLimits } from '../../ingest/admission/rate-limits.ts';
import { findNetwork } from '../../runtime/addresses.ts';
import type { Session } from '../../storage/lmdb/auth-records.ts';
import type { ApiKey, OAuthClient, User } from '../../storage/lmdb/records.ts';
import { OAuthError } from './oauth-error.ts';

/** Parameters of a form by name. A parameter without a value counts as omitted (RFC 6749 §3.2). */
export type Form = ReadonlyMap<string, string>;

/** The authenticated caller of an endpoint for clients: a team's API key, or an application that people sign in to. */
export type AuthenticatedClient =
  | { readonly kind: 'api-key'; readonly id: string; readonly apiKey: ApiKey }
  | { readonly kind: 'sign-in'; readonly id: string; readonly client: OAuthClient };

/** The client id of the console. The service exchanges the console's codes itself, and starts cookie sessions. */
export const consoleClientId = 'flagmeter-console';

/** The built-in clients. A redirect URI that begins with a slash is relative to the base URL. */
const builtIn = new Map<string, OAuthClient>(
  [
    publicClient('flagmeter-cli', 'flagmeter command line', ['http://127.0.0.1/callback', 'http://[::1]/callback']),
    publicClient(consoleClientId, 'flagmeter console', ['/console/callback']),
  ].map((client) => [client.clientId, client]),
);

/** Finds a sign-in client by its id: a built-in client, or a client that a team registered. */
export function findClient({ clients }: Pick<Accounts, 'clients'>, clientId: string): OAuthClient | undefined {
  return builtIn.get(clientId) ?? clients.get(clientId);
}

/** True if a user may sign in to a client. The client of a team is only for its members. */
export function maySignIn({ teams }: Pick<User, 'teams'>, { teamId }: OAuthClient): boolean {
  return teamId === null || teams.includes(teamId);
}

/** The user; `undefined` if deleted, or not allowed to sign in to the client. */
export function signedInUser(
  accounts: Pick<Accounts, 'users' | 'clients'>,
  { userId, clientId }: Pick<Session, 'userId' | 'clientId'>,
): User | undefined {
  const user = accounts.users.get(userId);
  const client = findClient(accounts, clientId);
  return user !== undefined && client !== undefined && maySignIn(user, client) ? user : undefined;
}

/**
 * Returns the user's teams that a client may act in. The client of a team acts only in that team, so that its operator
 * gets no access to the user's other teams. A deleted client may act in no team.
 */
export function teamsThrough(
  { teams, primaryTeam }: Pick<User, 'teams' | 'primaryTeam'>,
  client: OAuthClient | undefined,
): Pick<User, 'teams' | 'primaryTeam'> {
  if (client === undefined) return { teams: [], primaryTeam: '' };
  const only = client.teamId;
  if (only === null) return { teams, primaryTeam };
  return { teams: teams.filter((team) => team === only), primaryTeam: only };
}

/** True if a client registered this redirect URI. @param baseUrl the public URL of the management API */
export function matchesRedirect(
  { redirectUris }: Pick<OAuthClient, 'redirectUris'>,
  uri: string,
  baseUrl: string,
): boolean {
  return redirectUris.some((own) => (own.startsWith('/') ? uri === `${baseUrl}${own}` : isSameRedirect(own, uri)));
}

/**
 * Authenticates a client by its secret in the form or the header, or a public client by its id (RFC 6749 §2.3.1,
 * §3.2.1).
 * @throws {OAuthError} `invalid_client`, the same for an unknown client and a wrong secret; `invalid_request`
 */
export function authenticateClient(
  directory: Pick<Directory, 'apiKeys' | 'clients' | 'clock'>,
  authorization: string | undefined,
  form: Form,
): AuthenticatedClient {
  const id = form.get('client_id');
  if (authorization === undefined && id !== undefined && !form.has('client_secret')) {
    const client = findClient(directory, id);
    if (client?.secretHash === null) return { kind: 'sign-in', id, client };
    throw invalidClient(false);
  }
  const claimed = readClient(authorization, form);
  const client = findClient(directory, claimed.id);
  if (client?.secretHash != null && matchesHash(claimed.secret, client.secretHash))
    return { kind: 'sign-in', id: claimed.id, client };
  const now = directory.clock.now();
  const apiKey = client ? undefined : verifyClient(directory, claimed.id, claimed.secret, now);
  if (!apiKey) throw invalidClient(claimed.byHeader);
  checkNotExpired(apiKey, now, claimed.byHeader);
  return { kind: 'api-key', id: claimed.id, apiKey };
}

/**
 * @throws {OAuthError} `invalid_client`. Call this only for an authenticated key, because the error reveals that the
 * key exists.
 */
export function checkNotExpired(apiKey: ApiKey, now: number, byHeader = false): void {
  if (!isUsable(apiKey, now)) throw invalidClient(byHeader, 'The API key has expired; create another one');
}

export const apiKeyRefused = 'An API key can only use the grants client_credentials and token exchange';

/** @throws {OAuthError} `unauthorized_client` for an API key, and for the console, which has no tokens */
export function requireSignInClient(client: AuthenticatedClient): OAuthClient {
  if (client.kind !== 'sign-in') throw new OAuthError('unauthorized_client', apiKeyRefused);
  if (client.id === consoleClientId)
    throw new OAuthError('unauthorized_client', 'The console signs in at /console/sign-in, without tokens');
  return client.client;
}

function publicClient(clientId: string, name: string, redirectUris: readonly string[]): OAuthClient {
  return { clientId, number: 0, teamId: null, name, redirectUris, secretHash: null, createdAt: 0 };
}

interface ClaimedClient {
  readonly id: string;
  readonly secret: string;
  /** True if the credentials came in the `Authorization` header, which determines the form of an error response. */
  readonly byHeader: boolean;
}

/**
 * Reads a client's id and secret from the `Authorization: Basic` header or from the form (RFC 6749 §2.3.1).
 * @throws {OAuthError} `invalid_request` if both are used, `invalid_client` if neither is complete
 */
function readClient(authorization: string | undefined, form: Form): ClaimedClient {
  const id = form.get('client_id');
  const secret = form.get('client_secret');
  if (authorization === undefined) {
    if (id === undefined || secret === undefined) throw invalidClient(false);
    return { id, secret, byHeader: false };
  }
  if (secret !== undefined) {
    throw new OAuthError('invalid_request', 'Authenticate with the Authorization header or the form, not both');
  }
  const client = parseBasic(authorization);
  if (!client) throw invalidClient(true);
  if (id !== undefined && id !== client.id) {
    throw new OAuthError('invalid_request', 'client_id differs from the client id in the Authorization header');
  }
  return { ...client, byHeader: true };
}

/** Returns the unverified id that a client sends; empty if missing. Never throws. */
export function claimedId(authorization: string | undefined, form: Form): string {
  const id = authorization === undefined ? undefined : parseBasic(authorization)?.id;
  return id ?? form.get('client_id') ?? '';
}

export const unknownClient = 'The client is unknown or its secret is wrong';

/** The challenge that RFC 6749 §5.2 requires. It names the error, too, because some clients do not read the body. */
const basicChallenge = (why: string) =>
  `Basic realm="flagmeter", charset="UTF-8", error="invalid_client", error_description="${why}"`;

/** The error for a failed client authentication, whether the id or the secret is wrong. */
export function invalidClient(byHeader: boolean, why = unknownClient): OAuthError {
  const challenge = byHeader ? basicChallenge(why) : undefined;
  return new OAuthError('invalid_client', why, { status: 401, challenge });
}

/** Parses the header of RFC 7617 §2, with id and secret form-encoded as RFC 6749 §2.3.1 requires. */
function parseBasic(authorization: string): { id: string; secret: string } | undefined {
  const encoded = /^basic +([a-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const id = decodeFormText(text.slice(0, colon));
  const secret = decodeFormText(text.slice(colon + 1));
  return id && secret ? { id, secret } : undefined;
}

/** Cached origin checks of the clients. The key is the client record, which never changes. */
const matchers = new WeakMap<OAuthClient, (origin: string) => boolean>();

/**
 * Returns a function that checks the origin of a web page. It allows the console, and origins of redirect URIs of
 * public clients, to use the token endpoints and the management API.
 * @param baseUrl the public URL of the management API, under which the console lives
 */
export function clientOrigins({ clients }: Pick<Directory, 'clients'>, baseUrl: string): (origin: string) => boolean {
  const own = new URL(baseUrl).origin;
  return (origin) => {
    if (origin === own) return true;
    for (const client of clients.values()) if (client.secretHash === null && getMatcher(client)(origin)) return true;
    return false;
  };
}

function getMatcher(client: OAuthClient): (origin: string) => boolean {
  const known = matchers.get(client);
  if (known !== undefined) return known;
  const patterns = client.redirectUris.flatMap(listOrigins);
  const matcher = patterns.length === 0 ? () => false : originMatcher(patterns);
  matchers.set(client, matcher);
  return matcher;
}

/**
 * The origins of a redirect URI. A loopback address allows all ports (RFC 8252 §7.3). A custom scheme has no origin.
 */
function listOrigins(uri: string): readonly string[] {
  const { protocol, hostname, origin } = new URL(uri);
  if (protocol === 'http:' && hostname !== 'localhost') return [`http://${hostname}:*`];
  return protocol === 'http:' || protocol === 'https:' ? [origin] : [];
}

export const tooOften = 'This client sends too many requests; wait, then retry';

/**
 * Limits the rate at which a client gets, revokes or introspects tokens. Each request costs a signature or a commit.
 */
export class ClientRates {
  readonly #limits: KeyedLimits;

  /** @param rate requests per second, with bursts of twice this number; 0 means unlimited */
  constructor(rate: number) {
    this.#limits = new KeyedLimits(rate, 2 * rate);
  }

  /** @param rate as in the constructor */
  set(rate: number): void {
    this.#limits.set(rate, 2 * rate);
  }

  /**
   * @param now monotonic ms
   * @throws {OAuthError} `slow_down`, with status 429, if the rate is exceeded
   */
  take(key: string, now: number): void {
    const wait = this.#limits.take(key, now);
    if (wait === 0) return;
    throw new OAuthError('slow_down', tooOften, { status: 429, retryAfter: wait });
  }
}

/**
 * The rate limit key of a client. Requests of public clients and token exchanges are limited per network, because
 * anyone can send them in the name of a client.
 */
export function rateKey(client: AuthenticatedClient, request: Pick<Request, 'remoteAddress'>): string {
  const isPublic = client.kind === 'sign-in' ? client.client.secretHash === null : client.apiKey.trust !== undefined;
  // Reading the address is a system call, so it is read only for public clients.
  return isPublic ? `${client.id} ${findNetwork(request.remoteAddress)}` : client.id;
}

/** The rate limit key of all tokens of one holder: an API key, or a user of a client. */
export function holderKey({ sub, client_id: clientId }: { sub: string; client_id: string }): string {
  return sub === clientId ? clientId : `${clientId} ${sub}`;
}

/** Limit of failures of one client from one address: rate per second, and burst size. */
const ofClient = { rate: 1, burst: 60 };
/** Limit of failures from one address, for all client ids together. */
const ofAddress = { rate: 10, burst: 600 };

/** Maximum length of a client id; longer ids are truncated, because unauthenticated senders choose them. */
const longestId = 64;

export const tooManyFailures = 'Too many requests have failed; wait, then retry';

/** Slows down clients that fail to authenticate, or send invalid codes and refresh tokens. */
export class ClientFailures {
  readonly #clients = new KeyedLimits(ofClient.rate, ofClient.burst);
  readonly #addresses = new KeyedLimits(ofAddress.rate, ofAddress.burst);

  /**
   * Counts a failure. Only failures are limited, so wrong guesses never lock out a client that knows the secret.
   * @param now monotonic ms
   * @throws {OAuthError} `temporarily_unavailable`, with status 429, after too many failures
   */
  note(clientId: string, address: string, now: number): void {
    const wait = Math.max(
      this.#clients.take(failureKey(clientId, address), now),
      this.#addresses.take(findNetwork(address), now),
    );
    if (wait === 0) return;
    throw new OAuthError('temporarily_unavailable', tooManyFailures, { status: 429, retryAfter: wait });
  }
}

function failureKey(clientId: string, address: string): string {
  return `${findNetwork(address)} ${clientId.slice(0, longestId)}`;
}
