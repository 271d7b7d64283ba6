import type { Json } from '../../http/openapi/json-schema.ts';
import { userPatchSchema } from '../user-patch.ts';
import { newUserSchema } from '../users.ts';
import { done, made, one, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import {
  asGiven,
  bodyShape,
  exampleIds,
  exampleTime,
  fields,
  listOf,
  orNull,
  type Shape,
  text,
  time,
} from './shape.ts';

const properties: Json = {
  id: text('His id; anybody who knows it can add him to a team.'),
  email: orNull(text('His e-mail address, with which he signs in; `null` for an API key.')),
  ...asGiven(newUserSchema, 'name', 'role'),
  teams: listOf({ type: 'string' }, 'Ids of his teams, as far as you are in them, too.'),
  primaryTeam: orNull(
    text('Id of the team that is meant when none is named; `null` when you are not in it.'),
  ),
  createdAt: time('When he was made.'),
  updatedAt: time('When he was changed the last time.'),
};

const example = {
  id: exampleIds.user,
  email: 'ada@shop.example',
  name: 'Ada',
  role: 'User',
  teams: [exampleIds.team],
  primaryTeam: exampleIds.team,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

/** A user. */
export const user: Shape = { name: 'User', schema: fields(properties), example };

const shownOnce: Shape = {
  name: 'UserShownOnce',
  schema: fields(
    {
      ...properties,
      password: text('A password that was made for him, when none was given. It is never shown again.'),
    },
    ['password'],
  ),
  example: { ...example, password: 'correct-horse-battery' },
};

const newUser = bodyShape('NewUser', newUserSchema, { email: 'ada@shop.example', name: 'Ada', role: 'User' });
const userPatch = bodyShape('UserPatch', userPatchSchema, { name: 'Ada Lovelace' });

const invalidName = 'Cannot take the name of a user: must be 1–256 UTF-8 bytes without control characters';
const backpressure = 'Too many passwords are waiting';
const taken = 'Another user has this e-mail address already';

/** `/users` and what is below. */
export const users: Resource = {
  tag: 'Users',
  words: 'People who sign in.',
  shapes: [user, shownOnce, newUser, userPatch],
  routes: {
    'GET /users': {
      operationId: 'listUsers',
      summary: 'List the users of your teams',
      query: paging,
      answers: { 200: page(user, 'The oldest user comes first.') },
    },
    'POST /users': {
      operationId: 'createUser',
      summary: 'Make a user',
      description:
        'He is in your primary team unless other teams of yours are named, and the first one is his primary team. Without a password he gets one, which the answer shows.',
      body: newUser,
      answers: { 201: made(shownOnce, 'The user.') },
      refusals: {
        invalid_name: invalidName,
        not_found: 'There is no such team',
        conflict: taken,
        backpressure,
        plan_limit: 'The plan free allows no more than 5 members in a team',
      },
    },
    'GET /users/me': {
      operationId: 'getMe',
      summary: 'Read whom the token stands for',
      description: 'An API key is shown in the shape of a user.',
      answers: { 200: one(user, 'The user or API key.', 'EntityTagOfUser') },
    },
    'GET /users/:id': {
      operationId: 'getUser',
      summary: 'Read a user',
      answers: { 200: one(user, 'The user.', 'EntityTag') },
    },
    'PATCH /users/:id': {
      operationId: 'changeUser',
      summary: 'Change what is given of a user',
      description: `All users change their own name, primary team and, with \`currentPassword\`, password; an Admin their own e-mail address,
too. An Admin changes the name of others, and the rest only as an Admin who is in all of their teams. A new password signs
the user out everywhere.`,
      body: userPatch,
      matches: true,
      answers: { 200: one(user, 'The user as he is now.', 'EntityTag') },
      refusals: { invalid_name: invalidName, conflict: taken, backpressure },
    },
    'DELETE /users/:id': {
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description: 'It takes an Admin who is in all of his teams, and leaves each of them another Admin.',
      answers: { 204: done('He is deleted, and his tokens are refused.') },
      refusals: { conflict: 'You cannot delete yourself; another Admin can' },
    },
  },
};
