import { Refusal } from '../contract/errors.ts';
import { type Role, roleIn } from '../contract/roles.ts';
import type { WebhookEventData } from '../contract/webhook-events.ts';
import type { AuditEntry, User } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import type { Accounts } from './accounts.ts';
import { settingsBetween } from './audit-log.ts';
import { checkLimit, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { listIdentities, removeIdentity } from './identity-providers.ts';
import { dropPasskeys } from './passkeys.ts';
import { checkTierLimit } from './tiers.ts';
import { dropPrivateViews } from './views.ts';

/** Maximum number of teams per user. An access token lists all teams of its user, and an overlong token is rejected. */
export const maxTeams = 100;

/**
 * Adds a user to a team, or changes the role of a member.
 * @param role role in the team; if omitted, a member keeps their role, and a new member has their default role
 * @returns the user, and true if the user was added
 * @throws {Refusal} `not_found` (team, user), `plan_limit`, `conflict` if the user is the last Admin of the team
 */
export function putMember(
  directory: Directory,
  teamId: string,
  userId: string,
  role?: Role,
): Promise<{ readonly user: User; readonly added: boolean }> {
  return directory.change((tx) => {
    const user = mustExist('user', tx.users.get(userId));
    const added = !user.teams.includes(teamId);
    return { user: putMembership(tx, user, teamId, { role, now: directory.clock.now() }), added };
  });
}

/** Does the same as `putMember`, in a transaction. */
export function putMembership(
  tx: AccountTransaction,
  user: User,
  teamId: string,
  { role, now }: { readonly role: Role | undefined; readonly now: number },
): User {
  const { plan } = mustExist('team', tx.teams.get(teamId));
  if (user.teams.includes(teamId)) return putTeamRole(tx, user, teamId, role, now);
  checkTierLimit(plan, 'members', listMembers(tx, teamId).length + 1);
  const joined = join(user, teamId, now, role);
  tx.put('users', user.id, joined);
  noteUser(tx, 'member.added', teamId, user, joined);
  announceMember(tx, 'added', teamId, joined);
  return joined;
}

/** Returns a user with the role in a team. */
const inTeam = (user: User, teamId: string) => ({ ...user, role: roleIn(user, teamId) });

/** Writes the new settings of a user into the audit log of a team. @param before `undefined` for a new user */
export function noteUser(
  tx: AccountTransaction,
  action: 'user.created' | 'user.changed' | 'member.added',
  teamId: string,
  before: User | undefined,
  after: User,
): void {
  const changes = settingsBetween('user', before && inTeam(before, teamId), inTeam(after, teamId));
  tx.note(action, teamId, describeTarget(after), changes);
}

function putTeamRole(tx: AccountTransaction, user: User, teamId: string, role: Role | undefined, now: number): User {
  if (role === undefined || user.teamRoles?.[teamId] === role) return user;
  const changed = { ...withTeamRole(user, teamId, role), updatedAt: now };
  checkOtherAdmins(tx, user, changed);
  tx.put('users', user.id, changed);
  noteUser(tx, 'user.changed', teamId, user, changed);
  announceMember(tx, 'changed', teamId, changed);
  return changed;
}

/**
 * Removes a user from a team. A user without another team is deleted, because only members of a user's team can see and
 * delete the user.
 * @throws {Refusal} `not_found`, `conflict` if the user is the last Admin of the team
 */
export function removeMember(directory: Directory, teamId: string, userId: string): Promise<void> {
  return directory.change((tx) => {
    removeMembership(tx, findMember(tx, teamId, userId), teamId, directory.clock.now());
  });
}

/** Does the same as `removeMember`, in a transaction. @returns the user; `undefined` if deleted */
export function removeMembership(tx: AccountTransaction, user: User, teamId: string, now: number): User | undefined {
  const left = leave(user, teamId, now);
  checkOtherAdmins(tx, user, left);
  tx.note('member.removed', teamId, describeTarget(user));
  if (user.teams.length === 1) {
    drop(tx, user);
    return undefined;
  }
  announceMember(tx, 'removed', teamId, user);
  tx.put('users', user.id, left);
  dropPrivateViews(tx, user.id, teamId);
  return left;
}

/** @throws {Refusal} `not_found`, with the same message for an unknown user as for a user of other teams */
export function findMember(accounts: Accounts, teamId: string, userId: string): User {
  const user = accounts.users.get(userId);
  return mustExist('member', user?.teams.includes(teamId) ? user : undefined);
}

export function listMembers(accounts: Accounts, teamId: string): User[] {
  return [...accounts.users.values()].filter(({ teams }) => teams.includes(teamId));
}

/**
 * Checks the teams in which a user stops being an Admin. Each of them must have another Admin.
 * @param after the changed user; absent if the user is deleted
 * @throws {Refusal} `conflict`
 */
export function checkOtherAdmins(accounts: Accounts, user: User, after?: User): void {
  const lost = user.teams.filter((team) => isTeamAdmin(user, team) && !(after && isTeamAdmin(after, team)));
  const left = lost.find((team) => listAdmins(accounts, team).every(({ id }) => id === user.id));
  if (left === undefined) return;
  throw new Refusal('conflict', lastAdmin(accounts.teams.get(left)?.name ?? ''));
}

export function lastAdmin(team: string): string {
  return `The user is the last Admin of the team ${JSON.stringify(team)}; make another member an Admin first`;
}

export function listAdmins(accounts: Accounts, teamId: string): User[] {
  return [...accounts.users.values()].filter((user) => isTeamAdmin(user, teamId));
}

function isTeamAdmin(user: User, teamId: string): boolean {
  return roleIn(user, teamId) === 'Admin';
}

/**
 * Adds a user to a team. A reset link of the user becomes invalid, because its creator might not be an Admin of the new
 * team.
 * @param role role in the team, if not the default role
 * @throws {Refusal} `plan_limit`
 */
export function join(user: User, teamId: string, now: number, role?: Role): User {
  checkLimit('teams per user', user.teams.length + 1, maxTeams);
  const { invitation, ...rest } = user;
  const kept = invitation?.purpose === 'invitation' ? { invitation } : {};
  const joinedAt = { ...user.joinedAt, [teamId]: now };
  const joined = { ...rest, ...kept, teams: [...user.teams, teamId], joinedAt, updatedAt: now };
  return role === undefined ? joined : withTeamRole(joined, teamId, role);
}

function withTeamRole(user: User, teamId: string, role: Role): User {
  return { ...user, teamRoles: { ...user.teamRoles, [teamId]: role } };
}

/** Removes a user from a team. The user must be in another team. */
export function leave(user: User, teamId: string, now: number): User {
  const { [teamId]: _, ...teamRoles } = user.teamRoles ?? {};
  const { [teamId]: __, ...joinedAt } = user.joinedAt ?? {};
  const teams = user.teams.filter((id) => id !== teamId);
  const primaryTeam = user.primaryTeam === teamId ? teams[0]! : user.primaryTeam;
  const kept = { ...(user.teamRoles && { teamRoles }), ...(user.joinedAt && { joinedAt }) };
  return { ...user, teams, ...kept, primaryTeam, updatedAt: now };
}

export function drop(tx: AccountTransaction, user: User): void {
  tx.remove('users', user.id);
  dropPasskeys(tx, user.id);
  tx.remove('totp', user.id);
  dropPrivateViews(tx, user.id);
  for (const linked of listIdentities(tx, user.id)) removeIdentity(tx, linked);
  for (const teamId of user.teams) {
    tx.note('user.deleted', teamId, describeTarget(user));
    announceMember(tx, 'deleted', teamId, user);
  }
}

/** Announces a change of a member. @param user the user after the change, or before a deletion */
export function announceMember(
  tx: AccountTransaction,
  change: WebhookEventData['member.changed']['change'],
  teamId: string,
  user: User,
): void {
  const { id, email, name } = user;
  const by = { type: tx.actor.type, name: tx.actor.name };
  const role = roleIn(user, teamId)!;
  tx.announce('member.changed', teamId, { change, user: { id, email, name, role }, by });
}

export function describeTarget({ id, email }: User): AuditEntry['target'] {
  return { type: 'user', id, name: email };
}
