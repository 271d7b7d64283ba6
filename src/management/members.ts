import { findMember, membersOf, putMember, removeMember } from '../accounts/members.ts';
import { overPlan } from '../accounts/plans.ts';
import { ApiError } from '../contract/errors.ts';
import { User } from '../contract/shapes/user.ts';
import { noContent, ok } from '../http/answer.ts';
import { type Group, jsonAnswer } from '../http/endpoint.ts';
import { checkManages } from './access.ts';
import { created, done, made, page } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { pageOf, paging } from './lists.ts';
import { showUser } from './show-user.ts';

const onlyTeam = 'This is your only team, and a user without a team is deleted. Another Admin can remove you';

export const members: Group<ManageDeps> = {
  tag: 'Members',
  description: 'The users in a team.',
  endpoints: [
    endpoint('GET /teams/:id/members', {
      access: { within: 'team', least: 'Viewer' },
      operationId: 'listMembers',
      summary: 'List the members of a team',
      query: paging,
      answers: { 200: page(User, 'The oldest user comes first.') },
      handle: ({ directory, caller, team, query }) =>
        ok(pageOf(membersOf(directory, team.id), query, (user) => showUser(user, caller))),
    }),
    endpoint('GET /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Viewer' },
      operationId: 'getMember',
      summary: 'Read a member',
      answers: { 200: jsonAnswer(User, 'The user.') },
      handle: ({ directory, caller, team, params }) =>
        ok(showUser(findMember(directory, team.id, params.userId), caller)),
    }),
    endpoint('PUT /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'addMember',
      summary: 'Add a user to a team',
      description: 'You can add a user if you already share a team with them. The request has no body.',
      answers: {
        200: jsonAnswer(User, 'The user already was a member.'),
        201: made(User, 'The user is a member now.'),
      },
      refuses: { plan_limit: overPlan('free', 'members') },
      async handle({ directory, caller, callerIn, team, params: { userId } }) {
        // An Admin must not take over users of other teams.
        const ofKnown = directory.under({
          check: (draft) => checkManages('user', draft, userId, callerIn(draft)),
        });
        const { user, added } = await putMember(ofKnown, team.id, userId);
        const shown = showUser(user, caller);
        return added ? created(['teams', team.id, 'members', userId], shown) : ok(shown);
      },
    }),
    endpoint('DELETE /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'removeMember',
      summary: 'Remove a user from a team',
      description: 'A user without another team is deleted.',
      answers: { 204: done('The user is no longer a member.') },
      refuses: { conflict: onlyTeam },
      async handle({ directory, caller, team, params }) {
        const { userId } = params;
        const withoutSelf = directory.under({
          check(draft) {
            const { id, teams } = findMember(draft, team.id, userId);
            if (id === caller.id && teams.length === 1) throw new ApiError('conflict', onlyTeam);
          },
        });
        await removeMember(withoutSelf, team.id, userId);
        return noContent;
      },
    }),
  ],
};
