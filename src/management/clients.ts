import { ofTeam } from '../accounts/accounts.ts';
import { createClient, deleteClient } from '../accounts/clients.ts';
import { readPublicKeys } from '../accounts/public-keys.ts';
import { reservedName } from '../accounts/reserved-names.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import { type DeepReadonly, pick } from '../contract/shapes/fields.ts';
import {
  NewSignInClient,
  plainClientSettings,
  SignInClient,
  SignInClientShownOnce,
} from '../contract/shapes/sign-in-client.ts';
import { createPage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { OAuthClient } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { created, done, made, page } from './responses.ts';

export const clients: Group = {
  tag: 'Sign-in clients',
  description: 'Programs that the members of a team sign in to, with the authorization code grant and PKCE.',
  endpoints: [
    endpoint('GET /teams/:id/clients', {
      access: { within: 'team', least: 'Admin' },
      operationId: 'listClients',
      summary: 'List the sign-in clients of a team',
      query: paging,
      responses: { 200: page(SignInClient, 'The oldest client comes first.') },
      handle: ({ directory, team: { id }, query }) =>
        ok(createPage(ofTeam(directory.clients, id), query, (client) => show(id, client))),
    }),
    endpoint('POST /teams/:id/clients', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'createClient',
      summary: 'Register a sign-in client',
      body: NewSignInClient,
      responses: { 201: made(SignInClientShownOnce, 'The client, with its secret if it has one.') },
      refuses: { invalid_name: reservedName, plan_limit: describeTierLimit('free', 'clients') },
      async handle({ directory, team: { id: teamId }, body: { type, publicKeys: jwks, ...wanted } }) {
        const confidential = type === 'confidential';
        const publicKeys = jwks && (await readPublicKeys(jwks));
        const settings = { ...wanted, teamId, confidential, publicKeys };
        const { client, clientSecret } = await createClient(directory, settings);
        const secret = clientSecret === null ? {} : { clientSecret };
        return created(['teams', teamId, 'clients', client.clientId], { ...show(teamId, client), ...secret });
      },
    }),
    endpoint('DELETE /teams/:id/clients/:clientId', {
      access: { within: 'team', least: 'Admin', recent: true },
      operationId: 'deleteClient',
      summary: 'Delete a sign-in client',
      description: 'Users can no longer sign in to the client, and tokens issued to the client are refused.',
      responses: { 204: done('The client is deleted.') },
      handle: ({ directory, team, params }) => deleteClient(directory, team.id, params.clientId),
    }),
  ],
};

/** Formats a client of a team for a response, without its secret. The service stores only a hash of the secret. */
function show(teamId: string, client: OAuthClient): DeepReadonly<SignInClient> {
  const { clientId, secretHash, publicKeys = [], createdAt } = client;
  const type = secretHash === null ? 'public' : 'confidential';
  const keys = publicKeys.map(({ kid, alg }) => ({ kid, alg }));
  const { name, ...settings } = pick(client, plainClientSettings);
  return { clientId, name, type, teamId, ...settings, publicKeys: keys, createdAt: timeText(createdAt) };
}
