import { Refusal } from '../contract/errors.ts';
import type { LinkPurpose } from '../contract/shapes/invitation.ts';
import type { Invitation, User } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import type { Accounts } from './accounts.ts';
import { describeTarget } from './members.ts';
import { passwordId } from './passwords.ts';
import { hashSecret, type RandomBytes } from './secrets.ts';

export type LinkLifetimes = Readonly<Record<LinkPurpose, number>>;

/** A link for a user, and its token: 256 random bits. */
export interface NewLink {
  readonly token: string;
  readonly invitation: Invitation;
}

export const resetLinkMs = 24 * 3_600_000;

/** The form of a token. Other texts are rejected without hashing. */
const tokenForm = /^[\w-]{43}$/;

export function newLink(
  purpose: LinkPurpose,
  passwordHash: string,
  { randomBytes, now, lifetimes }: LinkSources,
): NewLink {
  const token = Buffer.from(randomBytes(32)).toString('base64url');
  const expiresAt = now + lifetimes[purpose];
  return { token, invitation: { hash: hashSecret(token), purpose, of: passwordId(passwordHash), expiresAt } };
}

interface LinkSources {
  readonly randomBytes: RandomBytes;
  readonly now: number;
  readonly lifetimes: LinkLifetimes;
}

export function purposeFor(user: User): LinkPurpose {
  return findInvitation(user)?.purpose ?? 'reset-link';
}

export function putLink(tx: AccountTransaction, user: User, { invitation }: NewLink, now: number): User {
  const linked = { ...user, invitation, updatedAt: now };
  tx.put('users', user.id, linked);
  noteLink(tx, 'created', linked, invitation.purpose);
  return linked;
}

/** @throws {Refusal} `not_found` if the user does not have a link */
export function withdrawLink(tx: AccountTransaction, user: User, now: number): void {
  const invitation = findInvitation(user);
  if (invitation === undefined) throw new Refusal('not_found', noLink);
  const { invitation: _, ...rest } = user;
  tx.put('users', user.id, { ...rest, updatedAt: now });
  noteLink(tx, 'withdrawn', user, invitation.purpose);
}

export const noLink = 'The user has neither an invitation nor a reset link';

/**
 * Returns the link of a user, which might have expired. A new password invalidates the link, even if an earlier release
 * has set the password.
 */
export function findInvitation({ invitation, passwordHash }: User): Invitation | undefined {
  return invitation?.of === passwordId(passwordHash) ? invitation : undefined;
}

/** Returns the user of a valid link; `undefined` if the link was used, replaced or withdrawn, or has expired. */
export function userOfLink({ users }: Pick<Accounts, 'users'>, token: string, now: number): User | undefined {
  if (!tokenForm.test(token)) return undefined;
  const hash = hashSecret(token);
  let found: User | undefined;
  for (const user of users.values()) if (user.invitation?.hash === hash) found = user;
  return found !== undefined && now < (findInvitation(found)?.expiresAt ?? 0) ? found : undefined;
}

/**
 * Redeems a link in a transaction. The caller then stores the user's choice: a password, or an account at an identity
 * provider. Of two requests with the same link, only one succeeds.
 * @returns the user without the link; `undefined` if `userOfLink` finds no user
 */
export function redeemInvitation(tx: AccountTransaction, token: string, now: number): User | undefined {
  const user = userOfLink(tx, token, now);
  if (user === undefined) return undefined;
  const { invitation, ...redeemed } = user;
  tx.put('users', user.id, redeemed);
  noteLink(tx, 'accepted', user, invitation!.purpose);
  return redeemed;
}

export function noteLink(
  tx: AccountTransaction,
  change: 'created' | 'withdrawn' | 'accepted',
  user: User,
  purpose: LinkPurpose,
): void {
  const proof = change === 'accepted' ? { factors: ['invitation'] as const } : {};
  for (const teamId of user.teams) tx.note(`${purpose}.${change}`, teamId, describeTarget(user), proof);
}
