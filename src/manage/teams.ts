import Type from 'typebox';
import { membersOf } from '../accounts/members.ts';
import { isMore, usualPlan } from '../accounts/plans.ts';
import { createTeam, deleteTeam, patchTeam } from '../accounts/teams.ts';
import { ApiError } from '../errors.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Reply, Route } from '../http/types.ts';
import type { Plan, Team } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { checked } from './checked.ts';
import { checkMatch, tagged } from './etag.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { type Call, route } from './route.ts';

/** What the routes of teams need of the rest of the service. */
export interface TeamDeps extends ManageDeps {
  /** `fixed`: an Admin cannot raise a plan, only the operator of the service can. */
  readonly plans: 'fixed' | 'open';
}

const plan = Type.Union([Type.Literal('free'), Type.Literal('team'), Type.Literal('enterprise')], {
  description:
    'How much the team may have. Unless the service runs with `--plans open`, an Admin can only lower it.',
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
export function teamRoutes(parts: TeamDeps): readonly Route[] {
  return [
    route(parts, 'GET /teams', list),
    route(parts, 'POST /teams', (call) => create(parts, call)),
    route(parts, 'GET /teams/:id', ({ team }) => tagged(teamJson(team))),
    route(parts, 'PATCH /teams/:id', async ({ directory, team: { id }, request }) => {
      const patch = await readPatch(request);
      const matched = checked(directory, ({ teams }) => {
        const current = teams.get(id);
        if (current === undefined) return;
        checkMatch(request, teamJson(current));
        checkRise(parts, patch.plan, current.plan);
      });
      return tagged(teamJson(await patchTeam(matched, id, patch)));
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

async function create(parts: TeamDeps, call: Call): Promise<Reply> {
  const { name, plan: wanted } = await readNewTeam(call.request);
  const own = call.directory.teams.get(call.caller.primaryTeam)?.plan ?? 'free';
  checkRise(parts, wanted, own);
  const plan = wanted ?? (parts.plans === 'open' ? usualPlan : own);
  const team = await createTeam(call.directory, name, { plan, members: foundersOf(call) });
  return created(['teams', team.id], teamJson(team));
}

/** A team made by one on a small plan is no way to a large one either. @throws {ApiError} `forbidden` */
function checkRise({ plans }: TeamDeps, wanted: Plan | undefined, from: Plan): void {
  if (plans === 'open' || wanted === undefined || !isMore(wanted, from)) return;
  throw new ApiError('forbidden', 'Only the operator of the service raises plans, with --plans open');
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
  throw new ApiError(
    'conflict',
    'The team of this API key has no Admin who could be in the new team; add one first',
  );
}
