import Type from 'typebox';
import { createApplication, deleteApplication, patchApplication } from '../accounts/applications.ts';
import { ApiError } from '../errors.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Reply, Route } from '../http/types.ts';
import type { Application } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { checked } from './checked.ts';
import { environmentJson } from './environments.ts';
import { checkMatch, tagged } from './etag.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { type Call, route } from './route.ts';

const limit = { minimum: 0, maximum: 1_000_000_000 };

const settings = {
  allowedOrigins: Type.Array(Type.String(), {
    description:
      'Origins whose pages may send packets: `https://shop.example`, `https://*.shop.example` for its subdomains, `http://localhost:*` for any port of your own machine, `null` for sandboxed pages and files. A slash at the end is taken off. Without any, all may.',
  }),
  acceptClientIdentities: Type.Boolean({
    description:
      'Whether identities that clients assert (`u` of a packet) are attributed; they are not unless it is so.',
  }),
  rate: Type.Union([Type.Null(), Type.Number(limit)], {
    description: 'Packets and reports a second; 0 is no limit, and `null` what the service has for all.',
  }),
  burst: Type.Union([Type.Null(), Type.Integer(limit)], {
    description: 'Packets and reports at once; `null` is what the service has for all.',
  }),
};

/** The body of `POST /applications`. */
export const newApplicationSchema = Type.Object(
  {
    name: Type.String(named),
    teamId: Type.Optional(Type.String({ description: 'Your primary team when left out.' })),
    environments: Type.Optional(
      Type.Array(Type.String(named), {
        description: 'Names of its first environments; Production, Staging and Development when left out.',
      }),
    ),
    ...Type.Partial(Type.Object(settings)).properties,
  },
  { additionalProperties: false },
);

/** The body of `PATCH /applications/{id}`. */
export const applicationPatchSchema = Type.Partial(Type.Object({ name: Type.String(named), ...settings }), {
  additionalProperties: false,
});

const readNewApplication = jsonBody(newApplicationSchema);
const readPatch = jsonBody(applicationPatchSchema);

/** `/api/v2/applications` and what is one segment below. */
export function applicationRoutes(parts: ManageDeps): readonly Route[] {
  return [
    route(parts, 'GET /applications', list),
    route(parts, 'POST /applications', create),
    route(parts, 'GET /applications/:id', ({ application }) => tagged(applicationJson(application))),
    route(parts, 'PATCH /applications/:id', async ({ directory, application: { id }, request }) => {
      const patch = await readPatch(request);
      const matched = checked(directory, ({ applications }) => {
        const current = applications.get(id);
        if (current !== undefined) checkMatch(request, applicationJson(current));
      });
      return tagged(applicationJson(await patchApplication(matched, id, patch)));
    }),
    route(parts, 'DELETE /applications/:id', async ({ directory, application }) => {
      await deleteApplication(directory, application.id);
      return deleted;
    }),
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

function list({ directory, caller, request }: Call): Reply {
  const visible = [...directory.applications.values()].filter(({ teamId }) => caller.teams.includes(teamId));
  const { items, nextCursor } = pageOf(visible, request.query, ({ number }) => number);
  return ok({ items: items.map(applicationJson), nextCursor });
}

async function create({ directory, caller, callerIn, request }: Call): Promise<Reply> {
  const { teamId = caller.primaryTeam, ...wanted } = await readNewApplication(request);
  const own = checked(directory, (draft) => {
    if (!callerIn(draft).teams.includes(teamId)) throw new ApiError('not_found', 'There is no such team');
  });
  const application = await createApplication(own, { ...wanted, teamId });
  return created(['applications', application.id], applicationJson(application));
}
