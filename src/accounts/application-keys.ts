import { Refusal } from '../contract/errors.ts';
import { replacement } from '../contract/shapes/application-key.ts';
import type { Application, ApplicationKey, AuditEntry, KeyType } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { secretOverlapMs } from './api-keys.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { longestText } from './key-index.ts';
import {
  hashSecret,
  isGuessable,
  isOwnSecret,
  keyPrefix,
  newId,
  newKeyText,
  secretPart,
  tokenPrefix,
} from './secrets.ts';
import type { Transaction } from './store/account-store.ts';
import { checkTierLimit, getTier } from './tiers.ts';

/** A new key with its text. The text of a Backend key is not stored. */
export interface NewKey {
  readonly key: ApplicationKey;
  readonly text: string;
}

/** @throws {Refusal} `not_found` (application), `conflict` if the name is taken, `invalid_name`, `plan_limit` */
export function createKey(
  directory: Directory,
  applicationId: string,
  { type, name: wanted }: { readonly type: KeyType; readonly name?: string },
): Promise<NewKey> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const name = chooseName(tx, application, wanted, type);
    const text = newKeyText(type, directory.randomBytes);
    const shown = { prefix: keyPrefix(text), text: type === 'Backend' ? null : text };
    checkCount(tx, application);
    return { key: addKey(directory, tx, application, text, { type, name, ...shown }), text };
  });
}

interface RotatedKey extends NewKey {
  /** Time until which the previous key is accepted, Unix ms. */
  readonly previousUntil: number;
}

/**
 * Replaces a key by a new key of the same type and name. The previous key is accepted for another day. If the previous
 * key has replaced an older key, the older key is revoked.
 * @throws {Refusal} `not_found`, `conflict` if the key was adopted or has been rotated
 */
export function rotateKey(directory: Directory, applicationId: string, keyId: string): Promise<RotatedKey> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const keys = tx.getApplicationKeys(applicationId);
    const old = findKey(keys, keyId);
    if (old.environment !== undefined) throw new Refusal('conflict', cannotRotate);
    if (keys.some(({ id }) => id === old.replaced?.by)) throw new Refusal('conflict', rotatedBefore);
    for (const key of keys) if (key.replaced?.by === keyId) revokeKey(tx, key, directory.clock.now());
    const { type, name } = old;
    const text = newKeyText(type, directory.randomBytes);
    const key = addKey(directory, tx, application, text, {
      type,
      name,
      prefix: keyPrefix(text),
      text: type === 'Backend' ? null : text,
    });
    // A key can be rotated again after its successor was deleted. The earlier of the two expiries then applies.
    const { until = Number.POSITIVE_INFINITY } = old.replaced ?? {};
    const previousUntil = Math.min(until, directory.clock.now() + secretOverlapMs);
    tx.put('applicationKeys', old.hash, { ...old, replaced: { by: key.id, until: previousUntil } });
    tx.note('key.rotated', application.teamId, describeTarget(old), { applicationId });
    return { key, text, previousUntil };
  });
}

const cannotRotate = `Cannot rotate an adopted token: its clients can send only Unleash tokens. To replace it, ${replacement}`;
export const rotatedBefore = 'This key has already been rotated: rotate its successor';

interface AdoptedToken {
  readonly token: string;
  readonly type: KeyType;
  readonly name?: string;
  /** Name of the environment. */
  readonly environment: string;
}

/**
 * Adopts a token of another service, such as Unleash, as a key.
 * @throws {Refusal} `not_found` (application), `conflict`, `invalid_body`, `invalid_name`, `plan_limit`
 */
export function adoptKey(
  directory: Directory,
  applicationId: string,
  { token, type, name: wanted, environment }: AdoptedToken,
): Promise<ApplicationKey> {
  const secret = secretPart(token);
  const fits = secret.length >= shortestSecret && token.length <= longestText;
  if (!fits || !tokenPattern.test(token) || isOwnSecret(token)) throw new Refusal('invalid_body', tokenRule);
  const weak = type === 'Backend' && isGuessable(secret);
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    if (tx.has('applicationKeys', hashSecret(token))) throw new Refusal('conflict', adoptedBefore);
    const name = chooseName(tx, application, wanted, `Adopted ${type}`);
    const shown = { prefix: tokenPrefix(token), text: null, ...(weak && { weak }) };
    checkCount(tx, application);
    return addKey(directory, tx, application, token, { type, name, environment, ...shown });
  });
}

/** Printable ASCII without spaces, because a token is sent in a header. */
const tokenPattern = /^[!-~]+$/;

/** Minimum length of the secret part of a token. A shorter secret could be guessed. */
const shortestSecret = 16;

export const tokenRule = `A token must have ${shortestSecret} to ${longestText} printable ASCII characters without spaces; \`project:environment.\` does not count towards the ${shortestSecret}. Keys of flagmeter (fm_…) cannot be adopted`;
export const adoptedBefore = 'The token is already a key of an application';

export const keyExists = 'The application already has a key of this name';

/**
 * Returns the name of a new key. The default name gets a number if it is taken: `Frontend`, then `Frontend 2`.
 * @throws {Refusal} `conflict` if the wanted name is taken
 */
function chooseName(tx: AccountTransaction, { id }: Application, wanted: string | undefined, usual: string): string {
  const taken = new Set(tx.getApplicationKeys(id).map(({ name }) => name));
  if (wanted !== undefined && taken.has(wanted)) throw new Refusal('conflict', keyExists);
  let name = wanted ?? usual;
  for (let number = 2; taken.has(name); number += 1) name = `${usual} ${number}`;
  return name;
}

/** Checks the maximum number of keys. A key that has a successor does not count. @throws {Refusal} `plan_limit` */
function checkCount(tx: AccountTransaction, application: Application): void {
  checkTierLimit(getTier(tx, application), 'keys', tx.getApplicationKeys(application.id).filter(isCounted).length + 1);
}

export function isCounted({ replaced }: ApplicationKey): boolean {
  return replaced === undefined;
}

/** @throws {Refusal} `invalid_name` */
function addKey(
  directory: Directory,
  tx: AccountTransaction,
  application: Application,
  text: string,
  shown: Pick<ApplicationKey, 'type' | 'name' | 'prefix' | 'text' | 'environment' | 'weak'>,
): ApplicationKey {
  checkName('a key', shown.name);
  const key: ApplicationKey = {
    id: newId('key', directory.randomBytes),
    number: tx.takeNumber('key'),
    applicationId: application.id,
    hash: hashSecret(text),
    leakedAt: null,
    lastUsedAt: null,
    createdAt: directory.clock.now(),
    ...shown,
  };
  tx.put('applicationKeys', key.hash, key);
  const changes = [{ field: 'type', from: null, to: key.type }];
  tx.note('key.created', application.teamId, describeTarget(key), { applicationId: application.id, changes });
  return key;
}

/** Maximum number of revoked keys that an application keeps. */
const maxRevoked = 20;

/** @throws {Refusal} `not_found` */
export function deleteKey(directory: Directory, applicationId: string, keyId: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const key = findKey(tx.getApplicationKeys(applicationId), keyId);
    revokeKey(tx, key, directory.clock.now());
    tx.note('key.deleted', application.teamId, describeTarget(key), { applicationId });
  });
}

/** @throws {Refusal} `not_found` */
function findKey(keys: readonly ApplicationKey[], keyId: string): ApplicationKey {
  return mustExist(
    'key',
    keys.find(({ id }) => id === keyId),
  );
}

export function revokeKey(tx: Pick<Transaction, 'get' | 'put' | 'remove'>, key: ApplicationKey, now: number): void {
  tx.remove('applicationKeys', key.hash);
  const { applicationId, hash, text, ...kept } = key;
  const application = tx.get('applications', applicationId);
  if (application === undefined) return;
  const revokedKeys = [...(application.revokedKeys ?? []), { ...kept, revokedAt: now }].slice(-maxRevoked);
  tx.put('applications', applicationId, { ...application, revokedKeys });
}

function describeTarget({ id, name }: ApplicationKey): AuditEntry['target'] {
  return { type: 'key', id, name };
}

/** Lists the leaked Backend keys of an application. A key has leaked if a packet contained it. */
export function listLeakedKeys(
  { getApplicationKeys, leakedAt }: Pick<Directory, 'getApplicationKeys' | 'leakedAt'>,
  applicationId: string,
): readonly ApplicationKey[] {
  return getApplicationKeys(applicationId).filter((key) => leakedAt(key) !== null);
}
