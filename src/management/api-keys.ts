import { ofTeam } from '../accounts/accounts.ts';
import { createApiKey, deleteApiKey } from '../accounts/api-keys.ts';
import { nameRule } from '../accounts/checks.ts';
import { overPlan } from '../accounts/plans.ts';
import { ApiKey, ApiKeyShownOnce, NewApiKey } from '../contract/shapes/api-key.ts';
import { ok } from '../http/answer.ts';
import type { Group } from '../http/endpoint.ts';
import type { ApiKey as StoredApiKey } from '../storage/lmdb/records.ts';
import { created, done, made, page, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { endpoint } from './endpoint.ts';
import { pageOf, paging } from './lists.ts';

export const apiKeys: Group<ManageDeps> = {
  tag: 'API keys',
  description: 'Client credentials of a team. Programs use them to get tokens for this API.',
  endpoints: [
    endpoint('GET /teams/:id/api-keys', {
      access: { within: 'team', least: 'Admin' },
      operationId: 'listApiKeys',
      summary: 'List the API keys of a team',
      query: paging,
      answers: { 200: page(ApiKey, 'The oldest API key comes first.') },
      handle: ({ directory, team, query }) => ok(pageOf(ofTeam(directory.apiKeys, team.id), query, show)),
    }),
    endpoint('POST /teams/:id/api-keys', {
      access: { within: 'team', least: 'Admin' },
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description: 'The default role is User.',
      body: NewApiKey,
      answers: { 201: made(ApiKeyShownOnce, 'The API key with its secret.') },
      refuses: { invalid_name: nameRule('an API key'), plan_limit: overPlan('free', 'apiKeys') },
      async handle({ directory, team: { id: teamId }, body: { name, role = 'User' } }) {
        const { apiKey, clientSecret } = await createApiKey(directory, { teamId, name, role });
        return created(['teams', teamId, 'api-keys', apiKey.clientId], { ...show(apiKey), clientSecret });
      },
    }),
    endpoint('DELETE /teams/:id/api-keys/:clientId', {
      access: { within: 'team', least: 'Admin' },
      operationId: 'deleteApiKey',
      summary: 'Delete an API key',
      description: 'Its tokens are refused from now on.',
      answers: { 204: done('It is deleted.') },
      handle: ({ directory, team, params }) => deleteApiKey(directory, team.id, params.clientId),
    }),
  ],
};

/** The service does not know the secret. */
function show({ clientId, name, role, teamId, createdAt }: StoredApiKey): ApiKey {
  return { clientId, name, role, teamId, createdAt: timeText(createdAt) };
}
