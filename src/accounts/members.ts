import { ApiError } from '../contract/errors.ts';
import type { WebhookEventData } from '../contract/events.ts';
import type { AuditEntry, User } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import type { Accounts } from './accounts.ts';
import { checkLimit, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { checkPlan } from './plans.ts';

/** Maximum number of a user's teams. An access token lists all of them, and is rejected if it is too long. */
export const maxTeams = 100;

/**
 * Adds a user to a team. Does nothing if the user is already a member.
 * @returns the user, and whether they were added
 * @throws {ApiError} `not_found` (team, user), `plan_limit`
 */
export function addMember(
  directory: Directory,
  teamId: string,
  userId: string,
): Promise<{ readonly user: User; readonly added: boolean }> {
  return directory.change((draft) => {
    const { plan } = mustExist('team', draft.teams.get(teamId));
    const user = mustExist('user', draft.users.get(userId));
    if (user.teams.includes(teamId)) return { user, added: false };
    checkPlan(plan, 'members', membersOf(draft, teamId).length + 1);
    const joined = join(user, teamId, directory.clock.now());
    draft.put('users', userId, joined);
    draft.note('member.added', teamId, targetOf(user));
    announceMember(draft, 'added', teamId, joined);
    return { user: joined, added: true };
  });
}

/**
 * Removes a user from a team. A user without another team is deleted, because no one could see or delete them later.
 * @throws {ApiError} `not_found`, `conflict` if they are the last Admin of the team
 */
export function removeMember(directory: Directory, teamId: string, userId: string): Promise<void> {
  return directory.change((draft) => {
    const user = findMember(draft, teamId, userId);
    checkOtherAdmins(draft, user, [teamId]);
    draft.note('member.removed', teamId, targetOf(user));
    if (user.teams.length > 1) announceMember(draft, 'removed', teamId, user);
    if (user.teams.length === 1) drop(draft, user);
    else draft.put('users', userId, leave(user, teamId, directory.clock.now()));
  });
}

/**
 * A member of a team.
 * @throws {ApiError} `not_found`: the same for an unknown user and for a member of other teams only
 */
export function findMember(accounts: Accounts, teamId: string, userId: string): User {
  const user = accounts.users.get(userId);
  return mustExist('member', user?.teams.includes(teamId) ? user : undefined);
}

/** The members of a team, in no particular order. */
export function membersOf(accounts: Accounts, teamId: string): User[] {
  return [...accounts.users.values()].filter(({ teams }) => teams.includes(teamId));
}

/**
 * An Admin may leave only teams with another Admin. Otherwise no one could manage them.
 * @throws {ApiError} `conflict`
 */
export function checkOtherAdmins(accounts: Accounts, user: User, teams: readonly string[]): void {
  if (user.role !== 'Admin') return;
  const others = [...accounts.users.values()].filter(({ id, role }) => role === 'Admin' && id !== user.id);
  const managed = new Set(others.flatMap((other) => other.teams));
  const left = teams.find((team) => !managed.has(team));
  if (left === undefined) return;
  const name = JSON.stringify(accounts.teams.get(left)?.name);
  throw new ApiError(
    'conflict',
    `The user is the last Admin of the team ${name}; make another member an Admin first`,
  );
}

/**
 * A user with one more team.
 * @throws {ApiError} `plan_limit`
 */
export function join(user: User, teamId: string, now: number): User {
  checkLimit('teams per user', user.teams.length + 1, maxTeams);
  return { ...user, teams: [...user.teams, teamId], updatedAt: now };
}

/** A user without one of their teams. They must have another. */
export function leave(user: User, teamId: string, now: number): User {
  const teams = user.teams.filter((id) => id !== teamId);
  const primaryTeam = user.primaryTeam === teamId ? teams[0]! : user.primaryTeam;
  return { ...user, teams, primaryTeam, updatedAt: now };
}

/** Drafts the deletion of a user. */
export function drop(draft: AccountDraft, user: User): void {
  draft.remove('users', user.id);
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
  { id, email, name, role }: User,
): void {
  const by = { type: draft.actor.type, name: draft.actor.name };
  draft.announce('member.changed', teamId, { change, user: { id, email, name, role }, by });
}

/** A user, as named in the audit log. */
export function targetOf({ id, email }: User): AuditEntry['target'] {
  return { type: 'user', id, name: email };
}
