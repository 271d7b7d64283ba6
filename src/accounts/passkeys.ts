import { ApiError } from '../contract/errors.ts';
import { maxPasskeys } from '../contract/sign-in.ts';
import type { Passkey } from '../storage/lmdb/auth-records.ts';
import type { User } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { checkLimit, checkName, missing } from './checks.ts';
import { hashSecret } from './secrets.ts';
import type { Reader } from './store/account-store.ts';

/** The id of a passkey in the API, which is unique to its user. */
export function passkeyId(credentialId: string): string {
  return hashSecret(credentialId);
}

export function passkeyKey(userId: string, id: string): string {
  return `${userId}.${id}`;
}

/** The passkeys of a user with their ids, oldest first. */
export function passkeysOf(
  reader: Pick<Reader, 'get' | 'keys'>,
  userId: string,
): readonly (readonly [id: string, passkey: Passkey])[] {
  const start = passkeyKey(userId, '');
  // `~` sorts after every digit of an id.
  return [...reader.keys('passkeys', { start, end: `${start}~` })]
    .map((key) => [key.slice(start.length), reader.get('passkeys', key)!] as const)
    .sort(([, a], [, b]) => a.createdAt - b.createdAt);
}

const passkeyKnown = 'This passkey has been added before';

/** @throws {ApiError} `conflict` if it exists, `plan_limit`, `invalid_name` */
export function addPasskey(draft: AccountDraft, user: User, passkey: Passkey): void {
  const id = passkeyId(passkey.credentialId);
  const key = passkeyKey(user.id, id);
  if (draft.has('passkeys', key)) throw new ApiError('conflict', passkeyKnown);
  checkLimit('passkeys per user', passkeysOf(draft, user.id).length + 1, maxPasskeys);
  checkName('a passkey', passkey.name);
  draft.put('passkeys', key, passkey);
  notePasskey(draft, 'passkey.added', user, id, passkey);
}

/** @throws {ApiError} `not_found`, `invalid_name` */
export function renamePasskey(draft: AccountDraft, user: User, id: string, name: string): Passkey {
  const passkey = findPasskey(draft, user, id);
  checkName('a passkey', name);
  if (passkey.name === name) return passkey;
  const renamed = { ...passkey, name };
  draft.put('passkeys', passkeyKey(user.id, id), renamed);
  notePasskey(draft, 'passkey.renamed', user, id, renamed);
  return renamed;
}

/** @throws {ApiError} `not_found` */
export function removePasskey(draft: AccountDraft, user: User, id: string): void {
  const passkey = findPasskey(draft, user, id);
  draft.remove('passkeys', passkeyKey(user.id, id));
  notePasskey(draft, 'passkey.removed', user, id, passkey);
}

export function dropPasskeys(draft: AccountDraft, userId: string): void {
  for (const [id] of passkeysOf(draft, userId)) draft.remove('passkeys', passkeyKey(userId, id));
}

export function notePasskey(
  draft: AccountDraft,
  action: 'passkey.added' | 'passkey.renamed' | 'passkey.removed' | 'passkey.refused',
  { teams, email }: User,
  id: string,
  { name }: Passkey,
): void {
  for (const teamId of teams) draft.note(action, teamId, { type: 'passkey', id, name: `${name} (${email})` });
}

/** @throws {ApiError} `not_found` */
function findPasskey(draft: AccountDraft, { id: userId }: User, id: string): Passkey {
  const passkey = /^[0-9a-f]{64}$/.test(id) ? draft.get('passkeys', passkeyKey(userId, id)) : undefined;
  if (passkey === undefined) throw new ApiError('not_found', missing('passkey'));
  return passkey;
}
