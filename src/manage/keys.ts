import Type from 'typebox';
import { createKey, deleteKey } from '../accounts/application-keys.ts';
import type { Directory } from '../accounts/directory.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Route } from '../http/types.ts';
import type { ApplicationKey } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { route } from './route.ts';

/** The body of `POST /applications/{id}/keys`. */
export const newKeySchema = Type.Object(
  {
    type: Type.Union([Type.Literal('Frontend'), Type.Literal('Mobile'), Type.Literal('Backend')], {
      description:
        'Frontend and Mobile keys are for browsers and apps and are no secrets; a Backend key is one.',
    }),
    name: Type.Optional(Type.String({ description: 'That of its type when left out.', ...named })),
  },
  { additionalProperties: false },
);

const readNewKey = jsonBody(newKeySchema);

/** `/api/v2/applications/{id}/keys` and what is below. */
export function keyRoutes(parts: ManageDeps): readonly Route[] {
  return [
    route(parts, 'GET /applications/:id/keys', ({ directory, application, request }) => {
      const keys = directory.keysOf(application.id);
      const { items, nextCursor } = pageOf(keys, request.query, ({ number }) => number);
      return ok({ items: items.map((key) => keyJson(directory, key)), nextCursor });
    }),
    route(parts, 'POST /applications/:id/keys', async ({ directory, application: { id }, request }) => {
      const { key, text } = await createKey(directory, id, await readNewKey(request));
      const { type, name, createdAt } = key;
      const body = { id: key.id, type, name, key: text, createdAt: timeText(createdAt) };
      return created(['applications', id, 'keys', key.id], body);
    }),
    route(parts, 'DELETE /applications/:id/keys/:keyId', async ({ directory, application, params }) => {
      await deleteKey(directory, application.id, params['keyId'] ?? '');
      return deleted;
    }),
  ];
}

/** A key as lists show it: the text of a Backend key is not there, nor known to the service. */
function keyJson(directory: Directory, key: ApplicationKey): object {
  return {
    id: key.id,
    type: key.type,
    name: key.name,
    prefix: key.prefix,
    ...(key.text === null ? {} : { key: key.text }),
    createdAt: timeText(key.createdAt),
    lastUsedAt: timeText(directory.lastUsedAt(key)),
    warnings: warningsOf(directory.leakedAt(key)),
  };
}

function warningsOf(leakedAt: number | null): object[] {
  if (leakedAt === null) return [];
  const message =
    'This Backend key came in a telemetry packet, so it is in a browser or an app: replace it, then delete it';
  return [{ code: 'leaked', message, at: timeText(leakedAt) }];
}
