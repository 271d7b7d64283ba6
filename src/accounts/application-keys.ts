import type { ApplicationKey, AuditEntry, KeyType } from '../storage/lmdb/records.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { checkPlan, planOf } from './plans.ts';
import { hashSecret, keyPrefix, newId, newKeyText } from './secrets.ts';

/** A new key with its text. The text of a Backend key is not stored. */
export interface NewKey {
  readonly key: ApplicationKey;
  readonly text: string;
}

/**
 * Makes a key. Its name defaults to its type.
 * @throws {ApiError} `not_found` (application), `invalid_name`, `plan_limit`
 */
export function createKey(
  directory: Directory,
  applicationId: string,
  { type, name = type }: { readonly type: KeyType; readonly name?: string },
): Promise<NewKey> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    checkName('a key', name);
    checkPlan(planOf(draft, application), 'keys', draft.keysOf(applicationId).length + 1);
    const text = newKeyText(type, directory.randomBytes);
    const key: ApplicationKey = {
      id: newId('key', directory.randomBytes),
      number: draft.takeNumber('key'),
      applicationId,
      type,
      name,
      hash: hashSecret(text),
      prefix: keyPrefix(text),
      text: type === 'Backend' ? null : text,
      leakedAt: null,
      lastUsedAt: null,
      createdAt: directory.clock.now(),
    };
    draft.put('applicationKeys', key.hash, key);
    draft.note('key.created', application.teamId, targetOf(key));
    return { key, text };
  });
}

/**
 * Revokes a key. The next packet with it is rejected.
 * @throws {ApiError} `not_found`
 */
export function deleteKey(directory: Directory, applicationId: string, keyId: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const key = mustExist(
      'key',
      draft.keysOf(applicationId).find(({ id }) => id === keyId),
    );
    draft.remove('applicationKeys', key.hash);
    draft.note('key.deleted', application.teamId, targetOf(key));
  });
}

function targetOf({ id, name }: ApplicationKey): AuditEntry['target'] {
  return { type: 'key', id, name };
}
