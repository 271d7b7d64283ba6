import { Refusal } from '../contract/errors.ts';
import type { IdentityProviderPatch, NewIdentityProvider } from '../contract/shapes/identity-provider.ts';
import { checkUrl } from '../http/outbound/addresses.ts';
import type { IdentityProvider, LinkedIdentity } from '../storage/lmdb/auth-records.ts';
import type { AuditEntry } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import type { Accounts } from './accounts.ts';
import { settingsBetween } from './audit-log.ts';
import { checkLimit, checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { hashSecret, newId } from './secrets.ts';
import type { Reader, Transaction } from './store/account-store.ts';

export const maxProviders = 20;
const maxRules = 100;
const maxScopes = 20;
const longestText = 256;
const longestSecret = 1024;

export interface IssuerRules {
  readonly allowPrivate: boolean;
}

type Settings = Omit<IdentityProvider, 'id' | 'number' | 'createdAt' | 'updatedAt'>;

/** Default settings of a provider. */
const usual = {
  clientSecret: null,
  scopes: ['openid', 'email', 'profile'],
  linkByEmail: false,
  createUsers: false,
  defaultTeam: null,
  defaultRole: 'User',
  claimRules: [],
  trustsSecondFactor: true,
  enabled: true,
} as const satisfies Partial<Settings>;

/** @throws {Refusal} `invalid_name`, `invalid_body` */
export function completeProvider(wanted: NewIdentityProvider, rules: IssuerRules): Settings {
  const settings = { ...usual, ...wanted };
  checkSettings(settings, rules);
  return settings;
}

/** @throws {Refusal} `invalid_name`, `invalid_body`, `plan_limit` */
export function createProvider(
  directory: Directory,
  wanted: NewIdentityProvider,
  rules: IssuerRules,
): Promise<IdentityProvider> {
  const settings = completeProvider(wanted, rules);
  return directory.change((tx) => {
    checkTeams(tx, settings);
    checkLimit('identity providers', tx.identityProviders.size + 1, maxProviders);
    const now = directory.clock.now();
    const provider: IdentityProvider = {
      id: newId('provider', directory.randomBytes),
      number: tx.takeNumber('identityProvider'),
      ...settings,
      createdAt: now,
      updatedAt: now,
    };
    tx.put('identityProviders', provider.id, provider);
    tx.note(
      'identity-provider.created',
      null,
      describeTarget(provider),
      settingsBetween('provider', undefined, provider),
    );
    return provider;
  });
}

/** @throws {Refusal} as `createProvider`, and `not_found` */
export function patchProvider(
  directory: Directory,
  id: string,
  patch: IdentityProviderPatch,
  rules: IssuerRules,
): Promise<IdentityProvider> {
  return directory.change((tx) => {
    const provider = mustExist('identity provider', tx.identityProviders.get(id));
    if (Object.keys(patch).length === 0) return provider;
    const patched = { ...provider, ...patch, updatedAt: directory.clock.now() };
    checkSettings(patched, rules);
    checkTeams(tx, patched);
    // Prevents an administrator from sending the stored secret of one issuer to another issuer.
    if (patched.issuer !== provider.issuer && provider.clientSecret !== null && !('clientSecret' in patch))
      throw new Refusal('invalid_body', secretOfIssuer);
    tx.put('identityProviders', id, patched);
    tx.note('identity-provider.changed', null, describeTarget(patched), settingsBetween('provider', provider, patched));
    return patched;
  });
}

const secretOfIssuer = '`issuer` must be sent with `clientSecret`: the stored secret belongs to the previous issuer';

/**
 * Deletes a provider. Users stay linked to their identities at the issuer, in case the provider is created again.
 * @throws {Refusal} `not_found`
 */
export function deleteProvider(directory: Directory, id: string): Promise<void> {
  return directory.change((tx) => {
    const provider = mustExist('identity provider', tx.identityProviders.get(id));
    tx.remove('identityProviders', id);
    tx.note('identity-provider.deleted', null, describeTarget(provider));
  });
}

export function describeTarget({ id, name }: IdentityProvider): AuditEntry['target'] {
  return { type: 'identity-provider', id, name };
}

function checkSettings(settings: Settings, { allowPrivate }: IssuerRules): void {
  const { name, issuer, clientId, clientSecret, scopes, claimRules } = settings;
  checkName('an identity provider', name);
  checkUrl(issuer, allowPrivate, 'issuer');
  check('issuer', !issuer.includes('?'), 'must not have a query');
  check('clientId', isText(clientId), textRule);
  const isSecret = clientSecret === null || (clientSecret !== '' && clientSecret.length <= longestSecret);
  check('clientSecret', isSecret, `must have 1 to ${longestSecret} characters, or be null`);
  // The pattern is `scope-token` of RFC 6749 §3.3.
  const areScopes = scopes.every((scope) => /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/.test(scope));
  check('scopes', areScopes && scopes.includes('openid') && scopes.length <= maxScopes, scopeRule);
  check('claimRules', claimRules.length <= maxRules, `must have at most ${maxRules} entries`);
  for (const { claim, value } of claimRules) check('claimRules', isText(claim) && isText(value), claimRule);
}

const textRule = `must have 1 to ${longestText} characters`;
const claimRule = `must have claims and values of 1 to ${longestText} characters`;
const scopeRule = `must have 1 to ${maxScopes} scopes, one of them openid`;

function isText(text: string): boolean {
  return text !== '' && text.length <= longestText;
}

function check(field: string, isFit: boolean, rule: string): void {
  if (!isFit) throw new Refusal('invalid_body', `\`${field}\` ${rule}`);
}

function checkTeams(accounts: Accounts, { defaultTeam, claimRules }: Settings): void {
  const isTeam = (id: string) => accounts.teams.has(id);
  check('defaultTeam', defaultTeam === null || isTeam(defaultTeam), 'must be an existing team');
  check(
    'claimRules',
    claimRules.every(({ team }) => isTeam(team)),
    'must name existing teams',
  );
}

function identityKey(issuer: string, subject: string): string {
  return hashSecret(JSON.stringify([issuer, subject]));
}

export function linkedIdentity(
  reader: Pick<Reader, 'get'>,
  issuer: string,
  subject: string,
): LinkedIdentity | undefined {
  return reader.get('linkedIdentities', identityKey(issuer, subject));
}

/** Returns the linked identities of a user, oldest first. */
export function listIdentities(reader: Pick<Reader, 'get' | 'keys'>, userId: string): LinkedIdentity[] {
  const start = `${userId}.`;
  // `~` sorts after all digits, so the range contains all keys of the user.
  const keys = [...reader.keys('userIdentities', { start, end: `${start}~` })];
  return keys
    .map((key) => reader.get('linkedIdentities', key.slice(start.length)))
    .filter((linked) => linked !== undefined)
    .sort((a, b) => a.number - b.number);
}

export function putIdentity(tx: Transaction, linked: LinkedIdentity): void {
  const key = identityKey(linked.issuer, linked.subject);
  tx.put('linkedIdentities', key, linked);
  tx.put('userIdentities', `${linked.userId}.${key}`, true);
}

/** Removes the records that link a user to an identity, without an audit log entry. */
export function removeIdentity(tx: Transaction, { issuer, subject, userId }: LinkedIdentity): void {
  const key = identityKey(issuer, subject);
  tx.remove('linkedIdentities', key);
  tx.remove('userIdentities', `${userId}.${key}`);
}

export function unlink(tx: AccountTransaction, linked: LinkedIdentity): void {
  removeIdentity(tx, linked);
  const user = tx.users.get(linked.userId);
  for (const teamId of user?.teams ?? [null])
    tx.note('identity.unlinked', teamId, { type: 'user', id: linked.userId, name: user?.email ?? '' });
}
