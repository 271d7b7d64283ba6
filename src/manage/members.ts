import { addMember, findMember, membersOf, removeMember } from '../accounts/members.ts';
import { ApiError } from '../errors.ts';
import type { Reply, Route } from '../http/types.ts';
import type { User } from '../store/records.ts';
import { created, deleted, ok } from './answers.ts';
import type { Caller, ManageDeps } from './caller.ts';
import { checked } from './checked.ts';
import { pageOf } from './lists.ts';
import { route, type TeamCall } from './route.ts';
import { userJson } from './user-json.ts';

/** `/api/v2/teams/{id}/members` and what is below. An Admin adds whom he shares a team with already, and nobody else. */
export function memberRoutes(parts: ManageDeps): readonly Route[] {
  const path = '/teams/:id/members';
  return [
    route(parts, `GET ${path}`, ({ directory, caller, team, request }) => {
      const members = membersOf(directory, team.id);
      const { items, nextCursor } = pageOf(members, request.query, ({ number }) => number);
      return ok({ items: items.map((user) => userJson(user, caller)), nextCursor });
    }),
    route(parts, `GET ${path}/:userId`, ({ directory, caller, team, params: { userId = '' } }) =>
      ok(userJson(findMember(directory, team.id, userId), caller)),
    ),
    route(
      parts,
      `PUT ${path}/:userId`,
      async ({ directory, caller, callerIn, team, params: { userId = '' } }) => {
        const ofKnown = checked(directory, (draft) => checkKnown(callerIn(draft), draft.users.get(userId)));
        const { user, added } = await addMember(ofKnown, team.id, userId);
        const json = userJson(user, caller);
        return added ? created(['teams', team.id, 'members', userId], json) : ok(json);
      },
    ),
    route(parts, `DELETE ${path}/:userId`, remove),
  ];
}

/** Nobody is drawn into a team by somebody who is a stranger to all of his. @throws {ApiError} `not_found` */
function checkKnown({ teams }: Caller, user: User | undefined): void {
  if (user?.teams.some((team) => teams.includes(team))) return;
  throw new ApiError('not_found', 'There is no such user');
}

async function remove({ directory, caller, team, params: { userId = '' } }: TeamCall): Promise<Reply> {
  const withoutSelf = checked(directory, (draft) => {
    const { id, teams } = findMember(draft, team.id, userId);
    if (id !== caller.id || teams.length > 1) return;
    throw new ApiError(
      'conflict',
      'This is your only team, and who is in none is deleted; another Admin can do it',
    );
  });
  await removeMember(withoutSelf, team.id, userId);
  return deleted;
}
