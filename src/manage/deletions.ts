import type { Route } from '../http/types.ts';
import type { Deletion } from '../store/records.ts';
import { ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { cutPage, readNamePage } from './lists.ts';
import { route } from './route.ts';

/** `GET /deletions`: what was deleted in the caller's teams, and is still being removed from the disk. */
export function deletionRoutes(parts: ManageDeps): readonly Route[] {
  return [
    route(parts, 'GET /deletions', ({ directory, caller, request }) => {
      const own = [...directory.deletions].filter(([, { teamId }]) => caller.teams.includes(teamId));
      const { items, nextCursor } = cutPage(own, readNamePage(request.query), ([key]) => key);
      return ok({ items: items.map(([, deletion]) => deletionJson(deletion)), nextCursor });
    }),
  ];
}

/** A deletion as the API shows it. */
function deletionJson({ target, teamId, requestedAt }: Deletion): object {
  return { target, teamId, requestedAt: timeText(requestedAt) };
}
