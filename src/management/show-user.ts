import { invitationOf } from '../accounts/invitations.ts';
import { roleIn, teamRolesOf } from '../contract/roles.ts';
import type { Member, User } from '../contract/shapes/user.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { ApiKey, User as StoredUser } from '../storage/lmdb/records.ts';
import type { Caller } from './caller.ts';

/** A user as in the API, without teams that the caller is not in. */
export function showUser(user: StoredUser, caller: Caller): User {
  const { id, email, name, role, primaryTeam } = user;
  const teams = user.teams.filter((team) => caller.teams.includes(team));
  return {
    id,
    email,
    name,
    role,
    teams,
    teamRoles: teamRolesOf(user, teams),
    primaryTeam: teams.includes(primaryTeam) ? primaryTeam : null,
    invitation: showInvitation(user),
    createdAt: timeText(user.createdAt),
    updatedAt: timeText(user.updatedAt),
  };
}

export function showMember(user: StoredUser, caller: Caller, teamId: string): Member {
  return { ...showUser(user, caller), role: roleIn(user, teamId) ?? user.role };
}

function showInvitation(user: StoredUser): User['invitation'] {
  const invitation = invitationOf(user);
  if (invitation === undefined) return null;
  return { purpose: invitation.purpose, expiresAt: timeText(invitation.expiresAt) };
}

/** An API key in the shape of a user, without an e-mail address. */
export function showAsUser({ clientId, name, role, teamId, createdAt }: ApiKey): User {
  const at = timeText(createdAt);
  const team = { teams: [teamId], teamRoles: { [teamId]: role }, primaryTeam: teamId };
  return { id: clientId, email: null, name, role, ...team, invitation: null, createdAt: at, updatedAt: at };
}
