import Type from 'typebox';
import { createEnvironment, deleteEnvironment } from '../accounts/environments.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Route } from '../http/types.ts';
import type { Environment } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { route } from './route.ts';

/** The body of `POST /applications/{id}/environments`. */
export const newEnvironmentSchema = Type.Object(
  { name: Type.String(named) },
  { additionalProperties: false },
);

const readNewEnvironment = jsonBody(newEnvironmentSchema);

/** `/api/v2/applications/{id}/environments` and what is below. */
export function environmentRoutes(parts: ManageDeps): readonly Route[] {
  return [
    route(parts, 'GET /applications/:id/environments', ({ application, request }) => {
      const { items, nextCursor } = pageOf(application.environments, request.query, ({ number }) => number);
      return ok({ items: items.map(environmentJson), nextCursor });
    }),
    route(
      parts,
      'POST /applications/:id/environments',
      async ({ directory, application: { id }, request }) => {
        const { name } = await readNewEnvironment(request);
        const environment = await createEnvironment(directory, id, name);
        return created(['applications', id, 'environments', name], environmentJson(environment));
      },
    ),
    route(
      parts,
      'DELETE /applications/:id/environments/:name',
      async ({ directory, application, params }) => {
        await deleteEnvironment(directory, application.id, params['name'] ?? '');
        return deleted;
      },
    ),
  ];
}

/** An environment as the API shows it. */
export function environmentJson({ name, createdAt }: Environment): object {
  return { name, createdAt: timeText(createdAt) };
}
