import { newTeamSchema, teamPatchSchema } from '../teams.ts';
import { done, made, one, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import { asGiven, bodyShape, exampleIds, exampleTime, fields, type Shape, text, time } from './shape.ts';

const team: Shape = {
  name: 'Team',
  schema: fields({
    id: text('Its id.'),
    ...asGiven(newTeamSchema, 'name', 'plan'),
    createdAt: time('When it was made.'),
    updatedAt: time('When it was changed the last time.'),
  }),
  example: {
    id: exampleIds.team,
    name: 'Shop',
    plan: 'team',
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
};

const newTeam = bodyShape('NewTeam', newTeamSchema, { name: 'Shop', plan: 'team' });
const teamPatch = bodyShape('TeamPatch', teamPatchSchema, { plan: 'enterprise' });

const invalidName = 'Cannot take the name of a team: must be 1–256 UTF-8 bytes without control characters';

/** `/teams` and what is one segment below. */
export const teams: Resource = {
  tag: 'Teams',
  words: 'A team owns applications, and its members manage them.',
  shapes: [team, newTeam, teamPatch],
  routes: {
    'GET /teams': {
      operationId: 'listTeams',
      summary: 'List your teams',
      query: paging,
      answers: { 200: page(team, 'The oldest team comes first.') },
    },
    'POST /teams': {
      operationId: 'createTeam',
      summary: 'Make a team',
      description:
        'Who makes it is its first member. An API key stays one of its own team: when it makes another, the Admins of its own are in it.',
      body: newTeam,
      answers: { 201: made(team, 'The team.') },
      refusals: {
        invalid_name: invalidName,
        conflict: 'The team of this API key has no Admin who could be in the new team; add one first',
        plan_limit: 'Cannot have more than 100 teams of one user',
      },
    },
    'GET /teams/:id': {
      operationId: 'getTeam',
      summary: 'Read a team',
      answers: { 200: one(team, 'The team.', 'EntityTag') },
    },
    'PATCH /teams/:id': {
      operationId: 'changeTeam',
      summary: 'Change what is given of a team',
      body: teamPatch,
      matches: true,
      answers: { 200: one(team, 'The team as it is now.', 'EntityTag') },
      refusals: {
        invalid_name: invalidName,
        conflict: 'The plan free is too small for what is there: 4 applications in a team, where it allows 3',
      },
    },
    'DELETE /teams/:id': {
      operationId: 'deleteTeam',
      summary: 'Delete a team with its API keys and sign-in clients',
      description:
        'A team that has applications cannot be deleted, nor one with members who are in no other team.',
      answers: { 204: done('It is deleted.') },
      refusals: { conflict: 'The team has applications; delete them first' },
    },
  },
};
