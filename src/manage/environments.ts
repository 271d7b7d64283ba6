import Type from 'typebox';
import { createEnvironment, deleteEnvironment } from '../accounts/environments.ts';
import type { Route } from '../http/types.ts';
import type { Environment } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import { type ManageParts, withApplication } from './caller.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';

/** The body of `POST /applications/{id}/environments`. */
export const newEnvironmentSchema = Type.Object({ name: Type.String() }, { additionalProperties: false });

const readNewEnvironment = jsonBody(newEnvironmentSchema);

/** `/api/v2/applications/{id}/environments` and what is below. */
export function environmentRoutes(parts: ManageParts): readonly Route[] {
  const { directory } = parts;
  const all = '/api/v2/applications/:id/environments';
  return [
    {
      method: 'GET',
      path: all,
      handle: withApplication(parts, 'members', ({ environments }, { query }) => {
        const { items, nextCursor } = pageOf(environments, query, ({ number }) => number);
        return ok({ items: items.map(environmentJson), nextCursor });
      }),
    },
    {
      method: 'POST',
      path: all,
      handle: withApplication(parts, 'admins', async ({ id }, request) => {
        const { name } = await readNewEnvironment(request);
        const environment = await createEnvironment(directory, id, name);
        return created(['applications', id, 'environments', name], environmentJson(environment));
      }),
    },
    {
      method: 'DELETE',
      path: `${all}/:name`,
      handle: withApplication(parts, 'admins', async ({ id }, _request, params) => {
        await deleteEnvironment(directory, id, params['name'] ?? '');
        return deleted;
      }),
    },
  ];
}

/** An environment as the API shows it. */
export function environmentJson({ name, createdAt }: Environment): object {
  return { name, createdAt: timeText(createdAt) };
}
