import Type from 'typebox';
import { createApplication, deleteApplication, patchApplication } from '../accounts/applications.ts';
import { Refusal } from '../errors.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import type { Application } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import { type Caller, checkAudience, type ManageParts, withApplication, withCaller } from './caller.ts';
import { environmentJson } from './environments.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';

const limit = { minimum: 0, maximum: 1_000_000_000 };

const settings = {
  allowedOrigins: Type.Array(Type.String()),
  acceptClientIdentities: Type.Boolean(),
  rate: Type.Union([Type.Null(), Type.Number(limit)]),
  burst: Type.Union([Type.Null(), Type.Integer(limit)]),
};

/** The body of `POST /applications`. */
export const newApplicationSchema = Type.Object(
  {
    name: Type.String(),
    teamId: Type.Optional(Type.String()),
    environments: Type.Optional(Type.Array(Type.String())),
    ...Type.Partial(Type.Object(settings)).properties,
  },
  { additionalProperties: false },
);

/** The body of `PATCH /applications/{id}`. */
export const applicationPatchSchema = Type.Partial(Type.Object({ name: Type.String(), ...settings }), {
  additionalProperties: false,
});

const readNewApplication = jsonBody(newApplicationSchema);
const readPatch = jsonBody(applicationPatchSchema);

/** `/api/v2/applications` and what is one segment below. */
export function applicationRoutes(parts: ManageParts): readonly Route[] {
  const { directory } = parts;
  const all = '/api/v2/applications';
  const one = `${all}/:id`;
  return [
    {
      method: 'GET',
      path: all,
      handle: withCaller(parts, (caller, request) => list(parts, caller, request)),
    },
    {
      method: 'POST',
      path: all,
      handle: withCaller(parts, (caller, request) => create(parts, caller, request)),
    },
    {
      method: 'GET',
      path: one,
      handle: withApplication(parts, 'members', (application) => ok(applicationJson(application))),
    },
    {
      method: 'PATCH',
      path: one,
      handle: withApplication(parts, 'admins', async ({ id }, request) =>
        ok(applicationJson(await patchApplication(directory, id, await readPatch(request)))),
      ),
    },
    {
      method: 'DELETE',
      path: one,
      handle: withApplication(parts, 'admins', async ({ id }) => {
        await deleteApplication(directory, id);
        return deleted;
      }),
    },
  ];
}

/** An application as the API shows it. */
export function applicationJson(application: Application): object {
  const { id, name, teamId, allowedOrigins, acceptClientIdentities, rate, burst } = application;
  return {
    id,
    name,
    teamId,
    allowedOrigins,
    acceptClientIdentities,
    rate,
    burst,
    environments: application.environments.map(environmentJson),
    createdAt: timeText(application.createdAt),
    updatedAt: timeText(application.updatedAt),
  };
}

function list({ directory }: ManageParts, { teams }: Caller, { query }: Request): Reply {
  const visible = [...directory.applications.values()].filter(({ teamId }) => teams.includes(teamId));
  const { items, nextCursor } = pageOf(visible, query, ({ number }) => number);
  return ok({ items: items.map(applicationJson), nextCursor });
}

async function create({ directory }: ManageParts, caller: Caller, request: Request): Promise<Reply> {
  checkAudience(caller, 'admins');
  const { teamId = caller.primaryTeam, ...wanted } = await readNewApplication(request);
  if (!caller.teams.includes(teamId)) throw new Refusal('not_found', 'There is no such team');
  const application = await createApplication(directory, { ...wanted, teamId });
  return created(['applications', application.id], applicationJson(application));
}
