import { done, made, one, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { paging } from './parameters.ts';
import { user } from './users.ts';

const path = '/teams/:id/members';

/** `/teams/{id}/members` and what is below. */
export const members: Resource = {
  tag: 'Members',
  words: 'Who is in a team.',
  shapes: [],
  routes: {
    [`GET ${path}` as const]: {
      operationId: 'listMembers',
      summary: 'List the members of a team',
      query: paging,
      answers: { 200: page(user, 'The oldest user comes first.') },
    },
    [`GET ${path}/:userId` as const]: {
      operationId: 'getMember',
      summary: 'Read a member',
      answers: { 200: one(user, 'The user.') },
    },
    [`PUT ${path}/:userId` as const]: {
      operationId: 'addMember',
      summary: 'Put a user into a team',
      description: "A user's id is his invitation: he is added by who knows it. The request has no body.",
      answers: { 200: one(user, 'He is in it already.'), 201: made(user, 'He is in it now.') },
      refusals: { plan_limit: 'The plan free allows no more than 5 members in a team' },
    },
    [`DELETE ${path}/:userId` as const]: {
      operationId: 'removeMember',
      summary: 'Take a user out of a team',
      description: 'Who is in no other team is deleted.',
      answers: { 204: done('He is in it no more.') },
      refusals: {
        conflict: 'This is your only team, and who is in none is deleted; another Admin can do it',
      },
    },
  },
};
