import { Refusal } from '../contract/errors.ts';
import { maxPasskeys } from '../contract/sign-in.ts';
import type { Passkey } from '../storage/lmdb/auth-records.ts';
import type { User } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { checkLimit, checkName, missing } from './checks.ts';
import { hashSecret } from './secrets.ts';
import type { Reader } from './store/account-store.ts';

/** The id of a passkey in the API, unique among the passkeys of its user. */
export function passkeyId(credentialId: string): string {
  return hashSecret(credentialId);
}

export function passkeyKey(userId: string, id: string): string {
  return `${userId}.${id}`;
}

/** Returns the passkeys of a user with their ids, oldest first. */
export function listPasskeys(
  reader: Pick<Reader, 'get' | 'keys'>,
  userId: string,
): readonly (readonly [id: string, passkey: Passkey])[] {
  const start = passkeyKey(userId, '');
  // `~` sorts after all digits, so the range contains all keys of the user.
  return [...reader.keys('passkeys', { start, end: `${start}~` })]
    .map((key) => [key.slice(start.length), reader.get('passkeys', key)!] as const)
    .sort(([, a], [, b]) => a.createdAt - b.createdAt);
}

const passkeyKnown = 'This passkey has been added before';

/** @throws {Refusal} `conflict` if it exists, `plan_limit`, `invalid_name` */
export function addPasskey(tx: AccountTransaction, user: User, passkey: Passkey): void {
  const id = passkeyId(passkey.credentialId);
  const key = passkeyKey(user.id, id);
  if (tx.has('passkeys', key)) throw new Refusal('conflict', passkeyKnown);
  checkLimit('passkeys per user', listPasskeys(tx, user.id).length + 1, maxPasskeys);
  checkName('a passkey', passkey.name);
  tx.put('passkeys', key, passkey);
  notePasskey(tx, 'passkey.added', user, id, passkey);
}

/** @throws {Refusal} `not_found`, `invalid_name` */
export function renamePasskey(tx: AccountTransaction, user: User, id: string, name: string): Passkey {
  const passkey = findPasskey(tx, user, id);
  checkName('a passkey', name);
  if (passkey.name === name) return passkey;
  const renamed = { ...passkey, name };
  tx.put('passkeys', passkeyKey(user.id, id), renamed);
  notePasskey(tx, 'passkey.renamed', user, id, renamed);
  return renamed;
}

/** @throws {Refusal} `not_found` */
export function removePasskey(tx: AccountTransaction, user: User, id: string): void {
  const passkey = findPasskey(tx, user, id);
  tx.remove('passkeys', passkeyKey(user.id, id));
  notePasskey(tx, 'passkey.removed', user, id, passkey);
}

export function dropPasskeys(tx: AccountTransaction, userId: string): void {
  for (const [id] of listPasskeys(tx, userId)) tx.remove('passkeys', passkeyKey(userId, id));
}

export function notePasskey(
  tx: AccountTransaction,
  action: 'passkey.added' | 'passkey.renamed' | 'passkey.removed' | 'passkey.refused',
  { teams, email }: User,
  id: string,
  { name }: Passkey,
): void {
  for (const teamId of teams) tx.note(action, teamId, { type: 'passkey', id, name: `${name} (${email})` });
}

/** @throws {Refusal} `not_found` */
function findPasskey(tx: AccountTransaction, { id: userId }: User, id: string): Passkey {
  const passkey = /^[0-9a-f]{64}$/.test(id) ? tx.get('passkeys', passkeyKey(userId, id)) : undefined;
  if (passkey === undefined) throw new Refusal('not_found', missing('passkey'));
  return passkey;
}
