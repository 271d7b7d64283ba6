import Type from 'typebox';
import { membersOf } from '../accounts/members.ts';
import { createTeam, deleteTeam, patchTeam } from '../accounts/teams.ts';
import { Refusal } from '../errors.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Reply, Route } from '../http/types.ts';
import type { Team } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import type { ManageParts } from './caller.ts';
import { checkMatch, tagged } from './etag.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { type Call, route } from './route.ts';

const plan = Type.Union([Type.Literal('free'), Type.Literal('team'), Type.Literal('enterprise')], {
  description: 'How much the team may have.',
});

/** The body of `POST /teams`. */
export const newTeamSchema = Type.Object(
  { name: Type.String(named), plan: Type.Optional(plan) },
  { additionalProperties: false },
);

/** The body of `PATCH /teams/{id}`. */
export const teamPatchSchema = Type.Partial(Type.Object({ name: Type.String(named), plan }), {
  additionalProperties: false,
});

const readNewTeam = jsonBody(newTeamSchema);
const readPatch = jsonBody(teamPatchSchema);

/** `/api/v2/teams` and what is one segment below. */
export function teamRoutes(parts: ManageParts): readonly Route[] {
  return [
    route(parts, 'GET /teams', list),
    route(parts, 'POST /teams', create),
    route(parts, 'GET /teams/:id', ({ team }) => tagged(teamJson(team))),
    route(parts, 'PATCH /teams/:id', async ({ directory, team: { id }, request }) => {
      const patch = await readPatch(request);
      const current = directory.teams.get(id);
      if (current !== undefined) checkMatch(request, teamJson(current));
      return tagged(teamJson(await patchTeam(directory, id, patch)));
    }),
    route(parts, 'DELETE /teams/:id', async ({ directory, team }) => {
      await deleteTeam(directory, team.id);
      return deleted;
    }),
  ];
}

/** A team as the API shows it. */
export function teamJson({ id, name, plan, createdAt, updatedAt }: Team): object {
  return { id, name, plan, createdAt: timeText(createdAt), updatedAt: timeText(updatedAt) };
}

function list({ directory, caller, request }: Call): Reply {
  const visible = [...directory.teams.values()].filter(({ id }) => caller.teams.includes(id));
  const { items, nextCursor } = pageOf(visible, request.query, ({ number }) => number);
  return ok({ items: items.map(teamJson), nextCursor });
}

async function create(call: Call): Promise<Reply> {
  const { name, ...settings } = await readNewTeam(call.request);
  const team = await createTeam(call.directory, name, { ...settings, members: foundersOf(call) });
  return created(['teams', team.id], teamJson(team));
}

/**
 * Who is in a team from the start: the user who makes it. An API key stays one of its own team; when it makes another,
 * the Admins of its own are in it.
 */
function foundersOf({ directory, caller }: Call): readonly string[] {
  if (directory.users.has(caller.id)) return [caller.id];
  const members = membersOf(directory, caller.primaryTeam);
  const admins = members.filter(({ role }) => role === 'Admin').map(({ id }) => id);
  if (admins.length > 0) return admins;
  throw new Refusal(
    'conflict',
    'The team of this API key has no Admin who could be in the new team; add one first',
  );
}
