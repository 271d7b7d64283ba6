import { ApiError } from '../contract/errors.ts';
import { replacement } from '../contract/shapes/application-key.ts';
import type { Application, ApplicationKey, AuditEntry, KeyType } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { secretOverlapMs } from './api-keys.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { longestText } from './key-index.ts';
import { checkPlan, planOf } from './plans.ts';
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
import type { Draft } from './store/account-store.ts';

/** A new key with its text. The text of a Backend key is not stored. */
export interface NewKey {
  readonly key: ApplicationKey;
  readonly text: string;
}

/** @throws {ApiError} `not_found` (application), `invalid_name`, `plan_limit` */
export function createKey(
  directory: Directory,
  applicationId: string,
  { type, name = type }: { readonly type: KeyType; readonly name?: string },
): Promise<NewKey> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const text = newKeyText(type, directory.randomBytes);
    const shown = { prefix: keyPrefix(text), text: type === 'Backend' ? null : text };
    checkCount(draft, application);
    return { key: addKey(directory, draft, application, text, { type, name, ...shown }), text };
  });
}

interface RotatedKey extends NewKey {
  /** The time until which the previous key is accepted. */
  readonly previousUntil: number;
}

/**
 * Replaces a key by a new one of the same type and name. The previous key is accepted for another day. The key that it replaced is
 * revoked.
 * @throws {ApiError} `not_found`, `conflict` if it was adopted, or rotated already
 */
export function rotateKey(directory: Directory, applicationId: string, keyId: string): Promise<RotatedKey> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const keys = draft.keysOf(applicationId);
    const old = findKey(keys, keyId);
    if (old.environment !== undefined) throw new ApiError('conflict', cannotRotate);
    if (keys.some(({ id }) => id === old.replaced?.by)) throw new ApiError('conflict', rotatedBefore);
    for (const key of keys) if (key.replaced?.by === keyId) revokeKey(draft, key, directory.clock.now());
    const { type, name } = old;
    const text = newKeyText(type, directory.randomBytes);
    const key = addKey(directory, draft, application, text, {
      type,
      name,
      prefix: keyPrefix(text),
      text: type === 'Backend' ? null : text,
    });
    // A key whose successor was deleted is not accepted for longer than was promised before.
    const { until = Number.POSITIVE_INFINITY } = old.replaced ?? {};
    const previousUntil = Math.min(until, directory.clock.now() + secretOverlapMs);
    draft.put('applicationKeys', old.hash, { ...old, replaced: { by: key.id, until: previousUntil } });
    draft.note('key.rotated', application.teamId, targetOf(old), { applicationId });
    return { key, text, previousUntil };
  });
}

const cannotRotate = `Cannot rotate an adopted token: its clients can send only a token of Unleash. To replace it, ${replacement}`;
export const rotatedBefore = 'This key was rotated already: rotate the key that replaced it';

interface AdoptedToken {
  readonly token: string;
  readonly type: KeyType;
  readonly name?: string;
  /** Name. */
  readonly environment: string;
}

/**
 * Adopts a token of another service, such as Unleash, as a key. The default name is distinct from the default name of a created
 * key, so that each name identifies one key.
 * @throws {ApiError} `not_found` (application), `conflict`, `invalid_body`, `invalid_name`, `plan_limit`
 */
export function adoptKey(
  directory: Directory,
  applicationId: string,
  { token, type, name = `Adopted ${type}`, environment }: AdoptedToken,
): Promise<ApplicationKey> {
  const secret = secretPart(token);
  const fits = secret.length >= shortestSecret && token.length <= longestText;
  if (!fits || !tokenPattern.test(token) || isOwnSecret(token)) throw new ApiError('invalid_body', tokenRule);
  const weak = type === 'Backend' && isGuessable(secret);
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    if (draft.has('applicationKeys', hashSecret(token))) throw new ApiError('conflict', adoptedBefore);
    const shown = { prefix: tokenPrefix(token), text: null, ...(weak && { weak }) };
    checkCount(draft, application);
    return addKey(directory, draft, application, token, { type, name, environment, ...shown });
  });
}

/** A token is sent as a header. */
const tokenPattern = /^[!-~]+$/;

/** Minimum length of the secret part of a token. An unauthenticated sender can try shorter ones. */
const shortestSecret = 16;

export const tokenRule = `A token must have ${shortestSecret} to ${longestText} printable ASCII characters without spaces; \`project:environment.\` does not count towards the ${shortestSecret}. Keys of flagmeter (fm_…) cannot be adopted`;
export const adoptedBefore = 'The token is a key of an application already';

/** Rotated keys do not count: each has a successor. @throws {ApiError} `plan_limit` */
function checkCount(draft: AccountDraft, application: Application): void {
  checkPlan(planOf(draft, application), 'keys', draft.keysOf(application.id).filter(isCounted).length + 1);
}

export function isCounted({ replaced }: ApplicationKey): boolean {
  return replaced === undefined;
}

/** @throws {ApiError} `invalid_name` */
function addKey(
  directory: Directory,
  draft: AccountDraft,
  application: Application,
  text: string,
  shown: Pick<ApplicationKey, 'type' | 'name' | 'prefix' | 'text' | 'environment' | 'weak'>,
): ApplicationKey {
  checkName('a key', shown.name);
  const key: ApplicationKey = {
    id: newId('key', directory.randomBytes),
    number: draft.takeNumber('key'),
    applicationId: application.id,
    hash: hashSecret(text),
    leakedAt: null,
    lastUsedAt: null,
    createdAt: directory.clock.now(),
    ...shown,
  };
  draft.put('applicationKeys', key.hash, key);
  const changes = [{ field: 'type', from: null, to: key.type }];
  draft.note('key.created', application.teamId, targetOf(key), { applicationId: application.id, changes });
  return key;
}

/** Maximum number of revoked keys that an application keeps. */
const maxRevoked = 20;

/** @throws {ApiError} `not_found` */
export function deleteKey(directory: Directory, applicationId: string, keyId: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const key = findKey(draft.keysOf(applicationId), keyId);
    revokeKey(draft, key, directory.clock.now());
    draft.note('key.deleted', application.teamId, targetOf(key), { applicationId });
  });
}

/** @throws {ApiError} `not_found` */
function findKey(keys: readonly ApplicationKey[], keyId: string): ApplicationKey {
  return mustExist(
    'key',
    keys.find(({ id }) => id === keyId),
  );
}

export function revokeKey(draft: Pick<Draft, 'get' | 'put' | 'remove'>, key: ApplicationKey, now: number): void {
  draft.remove('applicationKeys', key.hash);
  const { applicationId, hash, text, ...kept } = key;
  const application = draft.get('applications', applicationId);
  if (application === undefined) return;
  const revokedKeys = [...(application.revokedKeys ?? []), { ...kept, revokedAt: now }].slice(-maxRevoked);
  draft.put('applications', applicationId, { ...application, revokedKeys });
}

function targetOf({ id, name }: ApplicationKey): AuditEntry['target'] {
  return { type: 'key', id, name };
}

/** The Backend keys of an application that were seen in a packet. */
export function leakedKeysOf(
  { keysOf, leakedAt }: Pick<Directory, 'keysOf' | 'leakedAt'>,
  applicationId: string,
): readonly ApplicationKey[] {
  return keysOf(applicationId).filter((key) => leakedAt(key) !== null);
}
