import Type from 'typebox';
import { clientsOf, createClient, deleteClient } from '../accounts/clients.ts';
import { named } from '../http/openapi/named-schemas.ts';
import type { Route } from '../http/types.ts';
import type { OAuthClient } from '../store/records.ts';
import { created, deleted, ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { jsonBody } from './json-body.ts';
import { pageOf } from './lists.ts';
import { route } from './route.ts';

/** The body of `POST /teams/{id}/clients`. */
export const newClientSchema = Type.Object(
  {
    name: Type.String({ description: 'The login page shows it.', ...named }),
    type: Type.Union([Type.Literal('public'), Type.Literal('confidential')], {
      description:
        'A confidential client has a secret; what runs at its users cannot keep one, and is public.',
    }),
    redirectUris: Type.Array(Type.String(), {
      description:
        'Where it may be called back, letter for letter: `https:`, `http:` of the own machine, or a scheme of an app.',
      documented: { minItems: 1, maxItems: 20 },
    }),
  },
  { additionalProperties: false },
);

const readNewClient = jsonBody(newClientSchema);

/** `/api/v2/teams/{id}/clients`, the applications that the team's members sign in to, and what is below. */
export function clientRoutes(parts: ManageDeps): readonly Route[] {
  return [
    route(parts, 'GET /teams/:id/clients', ({ directory, team, request }) => {
      const { items, nextCursor } = pageOf(
        clientsOf(directory, team.id),
        request.query,
        ({ number }) => number,
      );
      return ok({ items: items.map(clientJson), nextCursor });
    }),
    route(parts, 'POST /teams/:id/clients', async ({ directory, team: { id: teamId }, request }) => {
      const { type, ...wanted } = await readNewClient(request);
      const confidential = type === 'confidential';
      const { client, clientSecret } = await createClient(directory, { ...wanted, teamId, confidential });
      const secret = clientSecret === null ? {} : { clientSecret };
      return created(['teams', teamId, 'clients', client.clientId], { ...clientJson(client), ...secret });
    }),
    route(parts, 'DELETE /teams/:id/clients/:clientId', async ({ directory, team, params }) => {
      await deleteClient(directory, team.id, params['clientId'] ?? '');
      return deleted;
    }),
  ];
}

/** A sign-in client as the API shows it: its secret is not there, nor known to the service. */
function clientJson({ clientId, name, teamId, redirectUris, secretHash, createdAt }: OAuthClient): object {
  const type = secretHash === null ? 'public' : 'confidential';
  return { clientId, name, type, teamId, redirectUris, createdAt: timeText(createdAt) };
}
