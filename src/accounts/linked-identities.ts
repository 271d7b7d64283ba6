import type { LinkedIdentity } from '../storage/lmdb/auth-records.ts';
import type { AccountDraft } from './account-draft.ts';
import { hashSecret } from './secrets.ts';
import type { Draft, Reader } from './store/account-store.ts';

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

/** The identities of a user, oldest first. */
export function identitiesOf(reader: Pick<Reader, 'get' | 'keys'>, userId: string): LinkedIdentity[] {
  const start = `${userId}.`;
  // `~` sorts after every digit of a key.
  const keys = [...reader.keys('userIdentities', { start, end: `${start}~` })];
  return keys
    .map((key) => reader.get('linkedIdentities', key.slice(start.length)))
    .filter((linked) => linked !== undefined)
    .sort((a, b) => a.number - b.number);
}

export function putIdentity(draft: Draft, linked: LinkedIdentity): void {
  const key = identityKey(linked.issuer, linked.subject);
  draft.put('linkedIdentities', key, linked);
  draft.put('userIdentities', `${linked.userId}.${key}`, true);
}

/** Removes only the records of a link. */
export function removeIdentity(draft: Draft, { issuer, subject, userId }: LinkedIdentity): void {
  const key = identityKey(issuer, subject);
  draft.remove('linkedIdentities', key);
  draft.remove('userIdentities', `${userId}.${key}`);
}

export function unlink(draft: AccountDraft, linked: LinkedIdentity): void {
  removeIdentity(draft, linked);
  const user = draft.users.get(linked.userId);
  for (const teamId of user?.teams ?? [null])
    draft.note('identity.unlinked', teamId, { type: 'user', id: linked.userId, name: user?.email ?? '' });
}
