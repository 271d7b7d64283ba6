import { ApiError } from '../contract/errors.ts';
import { type Role, roleIn } from '../contract/roles.ts';
import type { WebhookEventData } from '../contract/webhook-events.ts';
import type { AuditEntry, User } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import type { Accounts } from './accounts.ts';
import { checkLimit, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { identitiesOf, removeIdentity } from './identity-providers.ts';
import { dropPasskeys } from './passkeys.ts';
import { checkPlan } from './plans.ts';
import { dropPrivateViews } from './views.ts';

/** Maximum number of a user's teams. An access token lists all of them, and is rejected if it is too long. */
export const maxTeams = 100;

/**
 * Adds a user to a team, or changes the role of a member.
 * @param role in the team; without one a member keeps theirs, and a new member has their default role
 * @returns the user, and whether they were added
 * @throws {ApiError} `not_found` (team, user), `plan_limit`, `conflict` if they are the last Admin of the team
 */
export function putMember(
  directory: Directory,
  teamId: string,
  userId: string,
  role?: Role,
): Promise<{ readonly user: User; readonly added: boolean }> {
  return directory.change((draft) => {
    const user = mustExist('user', draft.users.get(userId));
    const added = !user.teams.includes(teamId);
    return { user: draftMember(draft, user, teamId, { role, now: directory.clock.now() }), added };
  });
}

/** Drafts a membership: see `putMember`. */
export function draftMember(
  draft: AccountDraft,
  user: User,
  teamId: string,
  { role, now }: { readonly role: Role | undefined; readonly now: number },
): User {
  const { plan } = mustExist('team', draft.teams.get(teamId));
  if (user.teams.includes(teamId)) return draftTeamRole(draft, user, teamId, role, now);
  checkPlan(plan, 'members', membersOf(draft, teamId).length + 1);
  const joined = join(user, teamId, now, role);
  draft.put('users', user.id, joined);
  draft.note('member.added', teamId, targetOf(user));
  announceMember(draft, 'added', teamId, joined);
  return joined;
}

function draftTeamRole(draft: AccountDraft, user: User, teamId: string, role: Role | undefined, now: number): User {
  if (role === undefined || user.teamRoles?.[teamId] === role) return user;
  const changed = { ...withTeamRole(user, teamId, role), updatedAt: now };
  checkOtherAdmins(draft, user, changed);
  draft.put('users', user.id, changed);
  draft.note('user.changed', teamId, targetOf(user));
  announceMember(draft, 'changed', teamId, changed);
  return changed;
}

/**
 * Removes a user from a team. A user without another team is deleted, because no one could see or delete them later.
 * @throws {ApiError} `not_found`, `conflict` if they are the last Admin of the team
 */
export function removeMember(directory: Directory, teamId: string, userId: string): Promise<void> {
  return directory.change((draft) => {
    draftRemoval(draft, findMember(draft, teamId, userId), teamId, directory.clock.now());
  });
}

/** Drafts the end of a membership: see `removeMember`. @returns the user; `undefined` if deleted */
export function draftRemoval(draft: AccountDraft, user: User, teamId: string, now: number): User | undefined {
  const left = leave(user, teamId, now);
  checkOtherAdmins(draft, user, left);
  draft.note('member.removed', teamId, targetOf(user));
  if (user.teams.length === 1) {
    drop(draft, user);
    return undefined;
  }
  announceMember(draft, 'removed', teamId, user);
  draft.put('users', user.id, left);
  dropPrivateViews(draft, user.id, teamId);
  return left;
}

/** @throws {ApiError} `not_found`: the same for an unknown user and for a member of other teams only */
export function findMember(accounts: Accounts, teamId: string, userId: string): User {
  const user = accounts.users.get(userId);
  return mustExist('member', user?.teams.includes(teamId) ? user : undefined);
}

export function membersOf(accounts: Accounts, teamId: string): User[] {
  return [...accounts.users.values()].filter(({ teams }) => teams.includes(teamId));
}

/**
 * Checks that each team that a user no longer manages has another Admin. Otherwise no one could manage it.
 * @param after the user after the change; without it the user is deleted
 * @throws {ApiError} `conflict`
 */
export function checkOtherAdmins(accounts: Accounts, user: User, after?: User): void {
  const lost = user.teams.filter((team) => isAdminOf(user, team) && !(after && isAdminOf(after, team)));
  const left = lost.find((team) => adminsOf(accounts, team).every(({ id }) => id === user.id));
  if (left === undefined) return;
  throw new ApiError('conflict', lastAdmin(accounts.teams.get(left)?.name ?? ''));
}

export function lastAdmin(team: string): string {
  return `The user is the last Admin of the team ${JSON.stringify(team)}; make another member an Admin first`;
}

export function adminsOf(accounts: Accounts, teamId: string): User[] {
  return [...accounts.users.values()].filter((user) => isAdminOf(user, teamId));
}

function isAdminOf(user: User, teamId: string): boolean {
  return roleIn(user, teamId) === 'Admin';
}

/**
 * A user with one more team. A reset link ends: its maker does not manage the user in that team.
 * @param role in the team, if not the default role
 * @throws {ApiError} `plan_limit`
 */
export function join(user: User, teamId: string, now: number, role?: Role): User {
  checkLimit('teams per user', user.teams.length + 1, maxTeams);
  const { invitation, ...rest } = user;
  const kept = invitation?.purpose === 'invitation' ? { invitation } : {};
  const joined = { ...rest, ...kept, teams: [...user.teams, teamId], updatedAt: now };
  return role === undefined ? joined : withTeamRole(joined, teamId, role);
}

function withTeamRole(user: User, teamId: string, role: Role): User {
  return { ...user, teamRoles: { ...user.teamRoles, [teamId]: role } };
}

/** A user without one of their teams. They must have another. */
export function leave(user: User, teamId: string, now: number): User {
  const { [teamId]: _, ...teamRoles } = user.teamRoles ?? {};
  const teams = user.teams.filter((id) => id !== teamId);
  const primaryTeam = user.primaryTeam === teamId ? teams[0]! : user.primaryTeam;
  return { ...user, teams, ...(user.teamRoles && { teamRoles }), primaryTeam, updatedAt: now };
}

export function drop(draft: AccountDraft, user: User): void {
  draft.remove('users', user.id);
  dropPasskeys(draft, user.id);
  draft.remove('totp', user.id);
  dropPrivateViews(draft, user.id);
  for (const linked of identitiesOf(draft, user.id)) removeIdentity(draft, linked);
  for (const teamId of user.teams) {
    draft.note('user.deleted', teamId, targetOf(user));
    announceMember(draft, 'deleted', teamId, user);
  }
}

/** Announces a change of a member. @param user after the change, or before it if deleted */
export function announceMember(
  draft: AccountDraft,
  change: WebhookEventData['member.changed']['change'],
  teamId: string,
  user: User,
): void {
  const { id, email, name } = user;
  const by = { type: draft.actor.type, name: draft.actor.name };
  const role = roleIn(user, teamId)!;
  draft.announce('member.changed', teamId, { change, user: { id, email, name, role }, by });
}

export function targetOf({ id, email }: User): AuditEntry['target'] {
  return { type: 'user', id, name: email };
}
