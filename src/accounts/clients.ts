import { Refusal } from '../contract/errors.ts';
import { hasPortZero } from '../contract/port-zero.ts';
import type { PlainClientSettings } from '../contract/shapes/sign-in-client.ts';
import type { PublicKey } from '../storage/lmdb/auth-records.ts';
import type { AuditEntry, OAuthClient } from '../storage/lmdb/records.ts';
import { mustBelong, ofTeam } from './accounts.ts';
import { noSecretHash } from './api-keys.ts';
import { settingsBetween } from './audit-log.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { checkNotOurs } from './reserved-names.ts';
import { hashSecret, newClientSecret, newId } from './secrets.ts';
import { checkTierLimit } from './tiers.ts';

const maxRedirectUris = 20;

export interface WantedClient extends PlainClientSettings {
  readonly teamId: string;
  /** True if the client can keep a secret, as a server can. An app or a browser extension cannot (RFC 6749 §2.1). */
  readonly confidential: boolean;
  /** Public keys of a confidential client that authenticates by a key instead of a secret. */
  readonly publicKeys?: readonly PublicKey[] | undefined;
}

/** A new client with its secret, which is not stored. The secret is `null` if the client authenticates without it. */
export interface NewClient {
  readonly client: OAuthClient;
  readonly clientSecret: string | null;
}

/** @throws {Refusal} `not_found` (team), `invalid_name`, `invalid_body` (redirect URIs), `plan_limit` */
export function createClient(directory: Directory, wanted: WantedClient): Promise<NewClient> {
  const { teamId, confidential, publicKeys, ...settings } = wanted;
  return directory.change((tx) => {
    const { plan } = mustExist('team', tx.teams.get(teamId));
    checkName('a sign-in client', settings.name);
    checkNotOurs(settings.name);
    checkRedirectUris(settings.redirectUris);
    checkTierLimit(plan, 'clients', ofTeam(tx.clients, teamId).length + 1);
    if (publicKeys !== undefined && !confidential) throw new Refusal('invalid_body', keysOfPublicClient);
    const clientSecret = confidential && publicKeys === undefined ? newClientSecret(directory.randomBytes) : null;
    const client: OAuthClient = {
      clientId: newId('signin', directory.randomBytes),
      number: tx.takeNumber('client'),
      teamId,
      ...settings,
      secretHash: clientSecret === null ? null : hashSecret(clientSecret),
      ...(publicKeys !== undefined && { publicKeys, secretHash: noSecretHash }),
      createdAt: directory.clock.now(),
    };
    tx.put('clients', client.clientId, client);
    tx.note('sign-in-client.created', teamId, describeTarget(client), settingsBetween('client', undefined, client));
    return { client, clientSecret };
  });
}

/** @throws {Refusal} `not_found` */
export function deleteClient(directory: Directory, teamId: string, clientId: string): Promise<void> {
  return directory.change((tx) => {
    const client = mustBelong('sign-in client', tx.clients.get(clientId), teamId);
    tx.remove('clients', clientId);
    tx.note('sign-in-client.deleted', teamId, describeTarget(client));
  });
}

const keysOfPublicClient =
  '`publicKeys` must be omitted unless `type` is confidential: a public client cannot keep a key';

function checkRedirectUris(uris: readonly string[]): void {
  if (uris.length === 0 || uris.length > maxRedirectUris)
    throw new Refusal('invalid_body', `\`redirectUris\` must have 1 to ${maxRedirectUris} entries`);
  const wrong = uris.findIndex((uri) => !isRedirectUri(uri));
  if (wrong < 0) return;
  const must =
    'must be https:, http: of 127.0.0.1, [::1] or localhost, or a scheme of the app such as com.example.app:, ' +
    'without user and fragment';
  throw new Refusal('invalid_body', `\`redirectUris[${wrong}]\` ${must}`);
}

function describeTarget({ clientId, name }: OAuthClient): AuditEntry['target'] {
  return { type: 'sign-in-client', id: clientId, name };
}

/** Maximum length of a redirect URI, in characters. */
const longestRedirectUri = 1024;

/** The characters of a URI (RFC 3986 §2) except `#`: fragments are not allowed in redirect URIs (RFC 6749 §3.1.2). */
const characters = /^[\w.~:/?[\]@!$&'()*+,;=%-]+$/;

/** Matches an `https:` URI whose host is a name or an IPv4 address. User names and wildcards are not allowed. */
const web = /^https:\/\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?(?:[/?]|$)/i;

/** Matches a loopback address (RFC 8252 §7.3). The groups are the text before the port, the port, and the rest. */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/;

/**
 * Matches a URI with the host `localhost`. This name can resolve to another host, so the port must match (RFC 8252
 * §8.3).
 */
const localhost = /^http:\/\/localhost(?::\d{1,5})?(?:[/?]|$)/;

/** Matches a URI with a private-use scheme, named after a domain of the app's maker (RFC 8252 §7.1). */
const privateUse = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\/?\/?[^/]/;

/**
 * True if a client can register the text as a redirect URI: `https:`, `http:` to the local machine, or a private-use
 * scheme with a dot.
 */
export function isRedirectUri(uri: string): boolean {
  if (uri.length > longestRedirectUri || !characters.test(uri) || !URL.canParse(uri)) return false;
  if (hasPortZero(uri)) return false;
  return [web, loopback, localhost, privateUse].some((form) => form.test(uri)) && isWellEscaped(uri);
}

/**
 * True if the redirect URI of a request matches a registered URI. The URIs must be equal, except for the port of a
 * loopback address, which an app chooses at run time (RFC 8252 §7.3).
 */
export function isSameRedirect(registered: string, uri: string): boolean {
  if (registered === uri) return true;
  const own = loopback.exec(registered);
  const asked = loopback.exec(uri);
  return own !== null && asked !== null && own[1] === asked[1] && own[3] === asked[3] && isPort(asked[2]);
}

function isPort(digits: string | undefined): boolean {
  return digits === undefined || (Number(digits) > 0 && Number(digits) <= 65_535);
}

function isWellEscaped(uri: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(uri);
}

/**
 * True if only a known site can receive the redirect. Any local program can listen on a loopback port, and any app can
 * claim a private-use scheme (RFC 8252 §8.6).
 */
export function isOfKnownReceiver(uri: string): boolean {
  return web.test(uri);
}
