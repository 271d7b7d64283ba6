import { findMember, lastAdmin, membersOf, putMember, removeMember } from '../accounts/members.ts';
import { overPlan } from '../accounts/plans.ts';
import { ApiError } from '../contract/errors.ts';
import { Member, MemberPut } from '../contract/shapes/user.ts';
import { noContent, ok } from '../http/answer.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { pageOf, paging } from '../http/lists.ts';
import { checkManages } from './access.ts';
import { created, done, made, page } from './answers.ts';
import { endpoint, type Group } from './endpoint.ts';
import { showMember } from './show-user.ts';
import { ownRole } from './user-patch.ts';

const onlyTeam = 'This is your only team, and a user without a team is deleted. Another Admin can remove you';

export const members: Group = {
  tag: 'Members',
  description: 'The users in a team.',
  endpoints: [
    endpoint('GET /teams/:id/members', {
      access: { within: 'team', least: 'Viewer' },
      operationId: 'listMembers',
      summary: 'List the members of a team',
      query: paging,
      answers: { 200: page(Member, 'The oldest user comes first.') },
      handle: ({ directory, caller, team, query }) =>
        ok(pageOf(membersOf(directory, team.id), query, (user) => showMember(user, caller, team.id))),
    }),
    endpoint('GET /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Viewer' },
      operationId: 'getMember',
      summary: 'Read a member',
      answers: { 200: jsonAnswer(Member, 'The member.') },
      handle: ({ directory, caller, team, params }) =>
        ok(showMember(findMember(directory, team.id, params.userId), caller, team.id)),
    }),
    endpoint('PUT /teams/:id/members/:userId', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'addMember',
      summary: 'Add a user to a team, or change the role of a member',
      description: 'You can add a user if you are an Admin of another of their teams. The body may be empty.',
      body: MemberPut,
      bodyOptional: true,
      answers: {
        200: jsonAnswer(Member, 'The user already was a member.'),
        201: made(Member, 'The user is a member now.'),
      },
      refuses: { plan_limit: overPlan('free', 'members'), conflict: lastAdmin('Shop') },
      async handle({ directory, caller, callerIn, team, params: { userId }, body: { role } }) {
        // An Admin must not take over users of other teams.
        const ofKnown = directory.under({
          check(draft) {
            checkManages('user', draft, userId, callerIn(draft));
            const own = userId === caller.id ? callerIn(draft).roleIn(team.id) : role;
            if (role !== undefined && role !== own) throw new ApiError('forbidden', ownRole);
          },
        });
        const { user, added } = await putMember(ofKnown, team.id, userId, role);
        const shown = showMember(user, caller, team.id);
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
