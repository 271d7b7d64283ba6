import type { ApiKey, User } from '../store/records.ts';
import { timeText } from './answers.ts';
import type { Caller } from './caller.ts';

/** A user as the API shows him to a caller, who does not hear of teams that he is not in himself. */
export function userJson(user: User, caller: Caller): object {
  const { id, email, name, role, primaryTeam } = user;
  const teams = user.teams.filter((team) => caller.teams.includes(team));
  return {
    id,
    email,
    name,
    role,
    teams,
    primaryTeam: teams.includes(primaryTeam) ? primaryTeam : null,
    createdAt: timeText(user.createdAt),
    updatedAt: timeText(user.updatedAt),
  };
}

/** An API key in the shape of a user: it has no e-mail address. */
export function apiKeyAsUser({ clientId, name, role, teamId, createdAt }: ApiKey): object {
  const at = timeText(createdAt);
  const team = { teams: [teamId], primaryTeam: teamId };
  return { id: clientId, email: null, name, role, ...team, createdAt: at, updatedAt: at };
}
