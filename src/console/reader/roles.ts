import { isAtLeast, type Role } from '../../contract/roles.ts';
import { placeOf } from '../address/place.ts';
import { user } from '../api/session.ts';
import { root } from '../api/settings.ts';
import { applications } from './applications.tsx';

/**
 * True if the reader has a role in the team that the address concerns; without such a team, in any of theirs. The API decides; a
 * page hides what it would refuse.
 */
export function hasRole(least: Role): boolean {
  if (user.value === undefined) return false;
  const { teamRoles } = user.value;
  const team = teamOfAddress();
  const held = team === undefined ? Object.values(teamRoles) : [teamRoles[team]];
  return held.some((role) => isAtLeast(role, least));
}

/** The team of the address: its own, or that of its application. */
function teamOfAddress(): string | undefined {
  const path = location.pathname.slice(root.length);
  const query = Object.fromEntries(new URLSearchParams(location.search));
  if (path.startsWith('/settings/team')) return query['team'] ?? user.value?.primaryTeam;
  if (path.startsWith('/settings/webhook')) return query['team'];
  const { application } = placeOf(path, query);
  return applications.value?.find(({ id }) => id === application)?.teamId;
}
