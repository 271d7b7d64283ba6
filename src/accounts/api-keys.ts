import { Refusal } from '../contract/errors.ts';
import { expiryDays } from '../contract/health.ts';
import { findRole, type KeyScope, scopeOfRole } from '../contract/key-scopes.ts';
import type { Role } from '../contract/roles.ts';
import type { PlainKeySettings } from '../contract/shapes/api-key.ts';
import type { PublicKey, Trust } from '../storage/lmdb/auth-records.ts';
import type { ApiKey, AuditEntry } from '../storage/lmdb/records.ts';
import { type Accounts, mustBelong, ofTeam } from './accounts.ts';
import { settingsBetween } from './audit-log.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { hashSecret, matchesHash, newClientSecret, newId, type RandomBytes } from './secrets.ts';
import { checkTierLimit } from './tiers.ts';
import { dropPrivateViews } from './views.ts';

/** Time for which a replaced secret is accepted. */
export const secretOverlapMs = 24 * 3_600_000;

/**
 * The hash of an API key without a secret. No known secret has this hash. Any sent secret is still compared with the
 * hash, so that timing does not reveal such a key.
 */
export const noSecretHash = '0'.repeat(64);

/** A credential of an API key that has no secret. */
interface Credential {
  readonly publicKeys?: readonly PublicKey[];
  readonly trust?: Trust;
}

interface Settings extends PlainKeySettings {
  /** A role, given in place of the one scope that corresponds to it. */
  readonly role: Role;
  readonly scopes: readonly KeyScope[];
  /** Ids of applications; `null` for all applications of the team. */
  readonly applications: readonly string[] | null;
  /** Unix ms; `null` if the key does not expire. */
  readonly expiresAt: number | null;
}

interface ApiKeyPath {
  readonly teamId: string;
  readonly clientId: string;
}

/** An API key with its new secret, which is not stored. The secret is empty if the key has another credential. */
export interface NewApiKey {
  readonly apiKey: ApiKey;
  readonly clientSecret: string;
}

type WantedApiKey = Credential & PlainKeySettings & Partial<Settings> & { readonly teamId: string };

/** @throws {Refusal} `not_found` (team), `invalid_name`, `invalid_body` (expiry), `plan_limit` */
export function createApiKey(directory: Directory, wanted: WantedApiKey): Promise<NewApiKey> {
  return directory.change((tx) => {
    const { plan } = mustExist('team', tx.teams.get(wanted.teamId));
    const now = directory.clock.now();
    checkSettings(tx, wanted.teamId, wanted, now);
    checkTierLimit(plan, 'apiKeys', ofTeam(tx.apiKeys, wanted.teamId).length + 1);
    const number = tx.takeNumber('apiKey');
    const { role: _, scopes: __, expiresAt, publicKeys, trust, applications, ...settings } = wanted;
    const permitted = resolvePermissions(wanted) ?? rolePermissions('User');
    const made = newApiKey({ ...settings, number, role: permitted.role }, now, directory.randomBytes);
    if (publicKeys !== undefined && trust !== undefined) throw new Refusal('invalid_body', oneCredential);
    const hasSecret = publicKeys === undefined && trust === undefined;
    const apiKey: ApiKey = {
      ...made.apiKey,
      ...settings,
      ...permitted,
      ...(applications != null && { applications }),
      ...(!hasSecret && { secretHash: noSecretHash }),
      ...(publicKeys !== undefined && { publicKeys }),
      ...(trust !== undefined && { trust }),
      ...(expiresAt != null && { expiresAt }),
    };
    tx.put('apiKeys', apiKey.clientId, apiKey);
    tx.note(
      'api-key.created',
      wanted.teamId,
      describeTarget(apiKey),
      settingsBetween('apiKey', undefined, describeReach(apiKey)),
    );
    return { apiKey, clientSecret: hasSecret ? made.clientSecret : '' };
  });
}

/**
 * Changes an API key of a team. The kind of its credential cannot change.
 * @throws {Refusal} `not_found`, `invalid_name`, `invalid_body`, `conflict`
 */
export function patchApiKey(
  directory: Directory,
  { teamId, clientId }: ApiKeyPath,
  patch: Partial<Settings & Credential>,
): Promise<ApiKey> {
  return directory.change((tx) => {
    const apiKey = mustBelong('API key', tx.apiKeys.get(clientId), teamId);
    if (Object.keys(patch).length === 0) return apiKey;
    checkSettings(tx, teamId, patch, directory.clock.now());
    if (isOther(patch.publicKeys, apiKey.publicKeys) || isOther(patch.trust, apiKey.trust))
      throw new Refusal('conflict', otherCredential);
    const { expiresAt = apiKey.expiresAt, applications = apiKey.applications, role, scopes, ...rest } = patch;
    const { expiresAt: before, applications: _, expiryAnnounced, ...kept } = apiKey;
    const changed: ApiKey = {
      ...kept,
      ...rest,
      ...resolvePermissions({ role, scopes }),
      ...(expiresAt != null && { expiresAt }),
      ...(expiresAt === before && expiryAnnounced !== undefined && { expiryAnnounced }),
      ...(applications != null && { applications }),
    };
    tx.put('apiKeys', clientId, changed);
    tx.note(
      'api-key.changed',
      teamId,
      describeTarget(changed),
      settingsBetween('apiKey', describeReach(apiKey), describeReach(changed)),
    );
    return changed;
  });
}

function isOther(wanted: unknown, own: unknown): boolean {
  return wanted !== undefined && own === undefined;
}

const oneCredential = '`publicKeys` and `trust` must not be combined: an API key has only one kind of credential';

export const otherCredential =
  'This API key has another kind of credential; create another API key, then delete this one';

/**
 * Replaces the secret of an API key. The previous secret is accepted for a day.
 * @throws {Refusal} `not_found`, `conflict` if the key lacks a secret
 */
export function rotateApiKeySecret(directory: Directory, { teamId, clientId }: ApiKeyPath): Promise<NewApiKey> {
  return directory.change((tx) => {
    const apiKey = mustBelong('API key', tx.apiKeys.get(clientId), teamId);
    if (apiKey.secretHash === noSecretHash) throw new Refusal('conflict', otherCredential);
    const clientSecret = newClientSecret(directory.randomBytes);
    const previousSecret = { hash: apiKey.secretHash, until: directory.clock.now() + secretOverlapMs };
    const changed: ApiKey = { ...apiKey, secretHash: hashSecret(clientSecret), previousSecret };
    tx.put('apiKeys', clientId, changed);
    tx.note('api-key.secret-rotated', teamId, describeTarget(changed));
    return { apiKey: changed, clientSecret };
  });
}

/** @throws {Refusal} `not_found` */
export function deleteApiKey(directory: Directory, teamId: string, clientId: string): Promise<void> {
  return directory.change((tx) => {
    const apiKey = mustBelong('API key', tx.apiKeys.get(clientId), teamId);
    tx.remove('apiKeys', clientId);
    dropPrivateViews(tx, clientId);
    tx.note('api-key.deleted', teamId, describeTarget(apiKey));
  });
}

/** Returns the API key with these credentials, or `undefined`. The check takes equally long for an unknown client. */
export function verifyClient(
  accounts: Pick<Accounts, 'apiKeys'>,
  clientId: string,
  clientSecret: string,
  now: number,
): ApiKey | undefined {
  const apiKey = accounts.apiKeys.get(clientId);
  const current = apiKey?.secretHash ?? noSecretHash;
  const previous = findPreviousSecret(apiKey, now)?.hash ?? noSecretHash;
  return matchesHash(clientSecret, current, previous) ? apiKey : undefined;
}

/** The replaced secret of an API key; `undefined` once the secret is no longer accepted. */
export function findPreviousSecret(apiKey: ApiKey | undefined, now: number): ApiKey['previousSecret'] {
  const { previousSecret } = apiKey ?? {};
  return previousSecret !== undefined && now < previousSecret.until ? previousSecret : undefined;
}

export function isUsable(apiKey: ApiKey | undefined, now: number): apiKey is ApiKey {
  return apiKey !== undefined && now < (apiKey.expiresAt ?? Infinity);
}

export function newApiKey(
  wanted: Pick<ApiKey, 'number' | 'teamId' | 'name' | 'role'>,
  now: number,
  randomBytes: RandomBytes,
): NewApiKey {
  const clientSecret = newClientSecret(randomBytes);
  const { number, teamId, name, role } = wanted;
  const clientId = newId('client', randomBytes);
  return {
    apiKey: { clientId, number, teamId, name, role, secretHash: hashSecret(clientSecret), createdAt: now },
    clientSecret,
  };
}

/** @throws {Refusal} `invalid_name`, `invalid_body`, `not_found` (application) */
function checkSettings(
  { applications: known }: Pick<Accounts, 'applications'>,
  teamId: string,
  { name, expiresAt, role, scopes, applications }: Partial<Settings>,
  now: number,
): void {
  if (name !== undefined) checkName('an API key', name);
  if (expiresAt != null && expiresAt <= now) throw new Refusal('invalid_body', '`expiresAt` must be in the future');
  if (scopes !== undefined && (role !== undefined || !isSet(scopes)))
    throw new Refusal('invalid_body', '`scopes` must list at least one scope, without duplicates and without `role`');
  if (applications == null) return;
  if (!isSet(applications) || applications.length > maxApplications)
    throw new Refusal('invalid_body', `\`applications\` must list 1 to ${maxApplications} applications, each once`);
  for (const id of applications) mustBelong('application', known.get(id), teamId);
}

const maxApplications = 100;

function isSet(list: readonly string[]): boolean {
  return list.length > 0 && new Set(list).size === list.length;
}

/** The scopes of an API key, and the role of its tokens; `undefined` if neither a role nor scopes are given. */
function resolvePermissions({
  role,
  scopes,
}: {
  readonly role?: Role | undefined;
  readonly scopes?: readonly KeyScope[] | undefined;
}) {
  if (scopes === undefined) return role && rolePermissions(role);
  return { scopes, role: findRole(scopes) ?? 'Viewer' } as const;
}

function rolePermissions(role: Role) {
  return { role, scopes: [scopeOfRole[role]] };
}

export function listScopes({ scopes, role }: Pick<ApiKey, 'scopes' | 'role'>): readonly KeyScope[] {
  return scopes ?? rolePermissions(role).scopes;
}

/** Returns an API key with all that it gives access to, in words. */
const describeReach = (key: ApiKey) => ({ ...key, scopes: listScopes(key), applications: key.applications ?? ['all'] });

function describeTarget({ clientId, name }: ApiKey): AuditEntry['target'] {
  return { type: 'api-key', id: clientId, name };
}

const dayMs = 24 * 3_600_000;

/** Days until an API key expires, rounded up; `undefined` after the expiry, and if it is further off than any warning. */
export function expiringDays({ expiresAt = Infinity }: Pick<ApiKey, 'expiresAt'>, now: number): number | undefined {
  const left = Math.ceil((expiresAt - now) / dayMs);
  return left > 0 && left <= Math.max(...expiryDays) ? left : undefined;
}

export function expiringKeys({ apiKeys, clock }: Pick<Directory, 'apiKeys' | 'clock'>): readonly ApiKey[] {
  const now = clock.now();
  return [...apiKeys.values()].filter((apiKey) => expiringDays(apiKey, now) !== undefined);
}

/** The entry of `expiryDays` that is to be announced now; `undefined` if no announcement is due. */
function dueFor(apiKey: ApiKey, now: number): number | undefined {
  const left = expiringDays(apiKey, now);
  const days = expiryDays.find((each) => left !== undefined && left <= each);
  return days !== undefined && days < (apiKey.expiryAnnounced ?? Infinity) ? days : undefined;
}

/**
 * Announces the expiry of each API key, once for each entry of `expiryDays`, from only one node.
 * @param isWanted true if a webhook of the team receives the event
 */
export async function announceExpiringKeys(directory: Directory, isWanted: (teamId: string) => boolean): Promise<void> {
  const now = directory.clock.now();
  const due = expiringKeys(directory).filter((apiKey) => isWanted(apiKey.teamId) && dueFor(apiKey, now) !== undefined);
  if (due.length === 0) return;
  await directory.change((tx) => {
    for (const { clientId } of due) {
      const apiKey = tx.apiKeys.get(clientId);
      const days = apiKey && dueFor(apiKey, now);
      if (apiKey === undefined || days === undefined) continue;
      tx.put('apiKeys', clientId, { ...apiKey, expiryAnnounced: days });
      tx.announce('api-key.expiring', apiKey.teamId, {
        apiKey: { id: clientId, name: apiKey.name },
        expiresAt: new Date(apiKey.expiresAt!).toISOString(),
        daysLeft: expiringDays(apiKey, now)!,
      });
    }
  });
}
