import Type from 'typebox';
import { apiKeysOf, createApiKey, deleteApiKey } from '../accounts/api-keys.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Route } from '../http/types.ts';
import type { ApiKey } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { route } from './route.ts';

/** What somebody or something may do. */
export const roleSchema = Type.Union([Type.Literal('Admin'), Type.Literal('User')], {
  description: 'An Admin manages everything in his teams; a User reads, and writes features and metrics.',
});

/** The body of `POST /teams/{id}/api-keys`. */
export const newApiKeySchema = Type.Object(
  { name: Type.String(named), role: Type.Optional(roleSchema) },
  { additionalProperties: false },
);

const readNewApiKey = jsonBody(newApiKeySchema);

/** `/api/v2/teams/{id}/api-keys` and what is below. */
export function apiKeyRoutes(parts: ManageDeps): readonly Route[] {
  return [
    route(parts, 'GET /teams/:id/api-keys', ({ directory, team, request }) => {
      const { items, nextCursor } = pageOf(
        apiKeysOf(directory, team.id),
        request.query,
        ({ number }) => number,
      );
      return ok({ items: items.map(apiKeyJson), nextCursor });
    }),
    route(parts, 'POST /teams/:id/api-keys', async ({ directory, team: { id: teamId }, request }) => {
      const { name, role = 'User' } = await readNewApiKey(request);
      const { apiKey, clientSecret } = await createApiKey(directory, { teamId, name, role });
      const { clientId } = apiKey;
      return created(['teams', teamId, 'api-keys', clientId], { ...apiKeyJson(apiKey), clientSecret });
    }),
    route(parts, 'DELETE /teams/:id/api-keys/:clientId', async ({ directory, team, params }) => {
      await deleteApiKey(directory, team.id, params['clientId'] ?? '');
      return deleted;
    }),
  ];
}

/** An API key as the API shows it: its secret is not there, nor known to the service. */
function apiKeyJson({ clientId, name, role, teamId, createdAt }: ApiKey): object {
  return { clientId, name, role, teamId, createdAt: timeText(createdAt) };
}
