import Type, { type Static } from 'typebox';
import { listOf, name, orNull, shape, text, time } from '../http/schema.ts';
import type { ApiKey, User as StoredUser } from '../storage/lmdb/records.ts';
import { exampleIds, exampleTime, timeText } from './answers.ts';
import type { Caller } from './caller.ts';
import { role } from './role.ts';

const fields = {
  id: text('Their id. Whoever knows it can add the user to a team.'),
  email: orNull(text('The e-mail address that they sign in with; `null` for an API key.')),
  name: name(),
  role,
  teams: listOf(Type.String(), 'Ids of their teams, as far as you are in them.'),
  primaryTeam: orNull(
    text('Id of the team that is meant when none is named; `null` when you are not in it.'),
  ),
  createdAt: time('When the user was created.'),
  updatedAt: time('When the user was last changed.'),
};

const example = {
  id: exampleIds.user,
  email: 'ada@shop.example',
  name: 'Ada',
  role: 'User' as const,
  teams: [exampleIds.team],
  primaryTeam: exampleIds.team,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

export const User = shape('User', fields, example);

export const UserShownOnce = shape(
  'UserShownOnce',
  {
    ...fields,
    password: Type.Optional(
      text('The password that was generated because none was given. It is never shown again.'),
    ),
  },
  { ...example, password: 'correct-horse-battery' },
);

/** A user as the API shows them to a caller, who does not learn of teams that the caller is not in. */
export function showUser(user: StoredUser, caller: Caller): Static<typeof User> {
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
export function showAsUser({ clientId, name, role, teamId, createdAt }: ApiKey): Static<typeof User> {
  const at = timeText(createdAt);
  const team = { teams: [teamId], primaryTeam: teamId };
  return { id: clientId, email: null, name, role, ...team, createdAt: at, updatedAt: at };
}
