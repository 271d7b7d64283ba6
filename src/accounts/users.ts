import { Refusal } from '../contract/errors.ts';
import { isEmail } from '../contract/names.ts';
import type { AuditEntry, User } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import type { Accounts } from './accounts.ts';
import { checkLimit, checkName, mustExist } from './checks.ts';
import type { Directory, DirectorySources } from './directory.ts';
import { noteLink } from './invitations.ts';
import { announceMember, checkOtherAdmins, describeTarget, drop, listMembers, maxTeams, noteUser } from './members.ts';
import { passwordFault, refusedPassword } from './password-rules.ts';
import { newId } from './secrets.ts';
import { checkTierLimit } from './tiers.ts';

/** A new user. The first team is the primary team. */
export type NewUser = Pick<
  User,
  'email' | 'name' | 'role' | 'teams' | 'passwordHash' | 'temporaryPasswordId' | 'invitation'
>;

export type UserPatch = Partial<
  Pick<User, 'email' | 'name' | 'role' | 'primaryTeam' | 'passwordHash' | 'temporaryPasswordId'>
>;

/** @throws {Refusal} `not_found` (team), `invalid_name`, `invalid_body`, `conflict` (e-mail address), `plan_limit` */
export function createUser(directory: Directory, wanted: NewUser): Promise<User> {
  return directory.change((tx) => addUser(directory, tx, wanted));
}

/** Adds a user in a transaction; throws as `createUser`. */
export function addUser({ clock, randomBytes }: DirectorySources, tx: AccountTransaction, wanted: NewUser): User {
  checkNewUser(tx, wanted);
  const now = clock.now();
  const user: User = {
    id: newId('user', randomBytes),
    number: tx.takeNumber('user'),
    ...wanted,
    primaryTeam: wanted.teams[0]!,
    createdAt: now,
    updatedAt: now,
  };
  tx.put('users', user.id, user);
  for (const teamId of user.teams) {
    noteUser(tx, 'user.created', teamId, undefined, user);
    announceMember(tx, 'created', teamId, user);
  }
  if (user.invitation !== undefined) noteLink(tx, 'created', user, user.invitation.purpose);
  return user;
}

/** Checks that a user could be created now; throws as `createUser`. */
export function checkNewUser(accounts: Accounts, wanted: Omit<NewUser, 'passwordHash'>): void {
  checkTeams(accounts, wanted.teams);
  checkUser(accounts, { ...wanted, id: undefined, primaryTeam: wanted.teams[0]! });
}

/**
 * Changes the given fields in a transaction. A new password or e-mail address invalidates the user's link.
 * @param factors factors that proved the user's identity for a change of the password, for the audit log
 * @throws {Refusal} `invalid_name`, `invalid_body`, `conflict` if the e-mail address is taken, or a team would lose its
 * last Admin
 */
export function applyUserPatch(
  tx: AccountTransaction,
  user: User,
  patch: UserPatch,
  now: number,
  { factors }: Pick<AuditEntry, 'factors'> = {},
): User {
  if (Object.keys(patch).length === 0) return user;
  checkUserPatch(tx, user, patch);
  const { invitation, ...rest } = user;
  const isEnding = patch.passwordHash !== undefined || (patch.email ?? user.email) !== user.email;
  const kept = invitation === undefined || isEnding ? {} : { invitation };
  const patched = { ...rest, ...kept, ...patch, updatedAt: now };
  tx.put('users', user.id, patched);
  const { passwordHash, temporaryPasswordId: _, ...others } = patch;
  const shown = factors === undefined ? {} : { factors };
  for (const teamId of user.teams) {
    if (Object.keys(others).length > 0) {
      noteUser(tx, 'user.changed', teamId, user, patched);
      announceMember(tx, 'changed', teamId, patched);
    }
    if (passwordHash !== undefined) tx.note('user.password-changed', teamId, describeTarget(patched), shown);
  }
  return patched;
}

/** Checks that a user could be changed now; throws as `applyUserPatch`. */
export function checkUserPatch(accounts: Accounts, user: User, patch: UserPatch): void {
  const patched = { ...user, ...patch };
  checkUser(accounts, patched);
  checkOtherAdmins(accounts, user, patched);
}

/** @throws {Refusal} `not_found`, `conflict` if the user is the last Admin of a team */
export function deleteUser(directory: Directory, id: string): Promise<void> {
  return directory.change((tx) => {
    const user = mustExist('user', tx.users.get(id));
    checkOtherAdmins(tx, user);
    drop(tx, user);
  });
}

/** Finds a user by e-mail address, ignoring case. Compares all users, so that timing does not reveal an account. */
export function userOfEmail({ users }: Pick<Accounts, 'users'>, email: string): User | undefined {
  const wanted = email.toLowerCase();
  let found: User | undefined;
  for (const user of users.values()) if (user.email.toLowerCase() === wanted) found = user;
  return found;
}

export const primaryTeamNotOwn = '`primaryTeam` must be one of the teams of the user';
export const emailTaken = 'Another user already has this e-mail address';

/** @throws {Refusal} `invalid_body` if the text is not valid as a new password of the user with this e-mail address */
export function checkPassword(password: string, email: string): void {
  const fault = passwordFault(password, email);
  if (fault !== undefined) throw refusedPassword(fault);
}

function checkTeams(accounts: Accounts, teams: readonly string[]): void {
  if (teams.length === 0 || new Set(teams).size < teams.length) {
    throw new Refusal('invalid_body', '`teams` must list at least one team, without duplicates');
  }
  checkLimit('teams per user', teams.length, maxTeams);
  for (const id of teams) {
    const { plan } = mustExist('team', accounts.teams.get(id));
    checkTierLimit(plan, 'members', listMembers(accounts, id).length + 1);
  }
}

/** @param user user as changed; `id` is `undefined` for a new user */
function checkUser(
  accounts: Accounts,
  user: Pick<User, 'email' | 'name' | 'teams' | 'primaryTeam'> & { readonly id: string | undefined },
): void {
  const { id, email, name, teams, primaryTeam } = user;
  // An unchanged name or address is not checked, because an earlier release might have allowed it.
  const before = accounts.users.get(id ?? '');
  if (before?.name !== name) checkName('a user', name);
  if (before?.email !== email && !isEmail(email)) {
    throw new Refusal(
      'invalid_body',
      '`email` must be an e-mail address such as ada@example.com, without invisible characters or mixed scripts',
    );
  }
  const holder = userOfEmail(accounts, email);
  if (holder !== undefined && holder.id !== id) {
    throw new Refusal('conflict', emailTaken);
  }
  if (!teams.includes(primaryTeam)) {
    throw new Refusal('invalid_body', primaryTeamNotOwn);
  }
}
