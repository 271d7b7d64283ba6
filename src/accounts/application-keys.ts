import { ApiError } from '../contract/errors.ts';
import type { Application, ApplicationKey, AuditEntry, KeyType } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
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
    const text = newKeyText(type, directory.randomBytes);
    const shown = { prefix: keyPrefix(text), text: type === 'Backend' ? null : text };
    return { key: addKey(directory, draft, application, text, { type, name, ...shown }), text };
  });
}

/** A token of another service. */
export interface AdoptedToken {
  readonly token: string;
  readonly type: KeyType;
  readonly name?: string;
  /** Name of the environment that the token stands for. */
  readonly environment: string;
}

/**
 * Adopts a token of another service, such as Unleash, as a key. Only its hash is kept, whatever its type. Its default name differs
 * from that of a created key, so a name finds one key.
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
    return addKey(directory, draft, application, token, { type, name, environment, ...shown });
  });
}

/** A token is sent as a header. */
const tokenPattern = /^[!-~]+$/;

/** Minimum length of the secret part of a token. An unauthenticated sender can try shorter ones. */
const shortestSecret = 16;

export const tokenRule = `A token must have ${shortestSecret} to ${longestText} printable ASCII characters without spaces; \`project:environment.\` does not count towards the ${shortestSecret}. Keys of flagmeter (fm_…) cannot be adopted`;
export const adoptedBefore = 'The token is a key of an application already';

/** @throws {ApiError} `invalid_name`, `plan_limit` */
function addKey(
  directory: Directory,
  draft: AccountDraft,
  application: Application,
  text: string,
  shown: Pick<ApplicationKey, 'type' | 'name' | 'prefix' | 'text' | 'environment' | 'weak'>,
): ApplicationKey {
  checkName('a key', shown.name);
  checkPlan(planOf(draft, application), 'keys', draft.keysOf(application.id).length + 1);
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

/**
 * Revokes a key. The next packet with it is rejected. The application keeps what identifies it.
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
    const { applicationId: _, hash, text, ...kept } = key;
    const revoked = { ...kept, revokedAt: directory.clock.now() };
    const revokedKeys = [...(application.revokedKeys ?? []), revoked].slice(-maxRevoked);
    draft.put('applications', applicationId, { ...application, revokedKeys });
    draft.note('key.deleted', application.teamId, targetOf(key), { applicationId });
  });
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
