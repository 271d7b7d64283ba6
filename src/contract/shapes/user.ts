import Type from 'typebox';
import { bodyShape, exampleIds, exampleTime, listOf, name, orNull, shape, text, time } from './fields.ts';

export const role = Type.Union([Type.Literal('Admin'), Type.Literal('User')], {
  description:
    'An Admin manages everything in their teams. A User reads everything, and writes features and metrics.',
});

const email = Type.String({
  description: 'The e-mail address that the user signs in with.',
  documented: { format: 'email' },
});

const password = Type.String({
  description:
    'At least 8 characters, and at most 1024 bytes. Not a common password, and without the e-mail address, the part before its @ or the name of this service.',
  documented: { format: 'password', minLength: 8, maxLength: 1024 },
});

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

export const NewUser = bodyShape(
  'NewUser',
  {
    email,
    name: name(),
    role: Type.Optional(role),
    teams: Type.Optional(
      listOf(Type.String(), 'Ids of teams that you are in. The default is your primary team.'),
    ),
    password: Type.Optional(password),
  },
  { email: 'ada@shop.example', name: 'Ada', role: 'User' },
);

export const UserPatch = bodyShape(
  'UserPatch',
  {
    email: Type.Optional(email),
    name: Type.Optional(name()),
    role: Type.Optional(role),
    primaryTeam: Type.Optional(text('Id of one of the teams of the user.')),
    password: Type.Optional(password),
    currentPassword: Type.Optional(
      Type.String({
        description: 'Your current password, which it takes to change your password or e-mail address.',
        documented: { format: 'password' },
      }),
    ),
  },
  { name: 'Ada Lovelace' },
);
