import { ofTeam } from '../accounts/accounts.ts';
import {
  createApiKey,
  deleteApiKey,
  expiringDays,
  findPreviousSecret,
  isUsable,
  listScopes,
  otherCredential,
  patchApiKey,
  rotateApiKeySecret,
} from '../accounts/api-keys.ts';
import { nameRule, readTime, timeRule } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { readPublicKeys } from '../accounts/public-keys.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import { readTrust } from '../accounts/trusts.ts';
import { ApiKey, ApiKeyPatch, ApiKeyShownOnce, NewApiKey, plainKeySettings } from '../contract/shapes/api-key.ts';
import { pick } from '../contract/shapes/fields.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { createPage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { PublicKey, Trust } from '../storage/lmdb/auth-records.ts';
import type { ApiKey as StoredApiKey } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { created, done, made, page } from './responses.ts';
import type { Services } from './services.ts';

const access = { within: 'team', least: 'Admin' } as const;

const refusesSettings = {
  invalid_name: nameRule('an API key'),
  invalid_time: timeRule('expiresAt'),
  invalid_body: '`expiresAt` must be in the future',
};

export const apiKeys: Group = {
  tag: 'API keys',
  description: 'Client credentials of a team. Programs use them to get tokens for this API.',
  endpoints: [
    endpoint('GET /teams/:id/api-keys', {
      access,
      operationId: 'listApiKeys',
      summary: 'List the API keys of a team',
      query: paging,
      responses: { 200: page(ApiKey, 'The oldest API key comes first.') },
      handle: ({ directory, team, query }) =>
        ok(createPage(ofTeam(directory.apiKeys, team.id), query, (apiKey) => showApiKey(directory, apiKey))),
    }),
    endpoint('POST /teams/:id/api-keys', {
      access: { ...access, recent: true },
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description:
        'The default scope is `write`. The scope `role` stands for the scope of the role of the API key. The API key authenticates by a secret, by `publicKeys` or by a `trust`.',
      body: NewApiKey,
      responses: { 201: made(ApiKeyShownOnce, 'The API key, with its secret if it has one.') },
      refuses: { ...refusesSettings, plan_limit: describeTierLimit('free', 'apiKeys') },
      async handle({ directory, team: { id: teamId }, body }, services) {
        const wanted = { ...(await entered(body, services)), name: body.name, teamId };
        const { apiKey, clientSecret } = await createApiKey(directory, wanted);
        const secret = clientSecret !== '' && { clientSecret };
        const shown = { ...showApiKey(directory, apiKey), ...secret };
        return created(['teams', teamId, 'api-keys', apiKey.clientId], shown);
      },
    }),
    endpoint('PATCH /teams/:id/api-keys/:clientId', {
      access: { ...access, recent: true },
      operationId: 'changeApiKey',
      summary: 'Change an API key',
      description:
        'The change takes effect immediately, also for tokens of the API key. `publicKeys` and `trust` can only be replaced, not added. Tokens issued for the previous keys or trust remain valid until the tokens expire or the API key is deleted.',
      body: ApiKeyPatch,
      responses: { 200: jsonResponse(ApiKey, 'The API key after the change.') },
      refuses: { ...refusesSettings, conflict: otherCredential },
      async handle({ directory, team: { id: teamId }, params: { clientId }, body }, services) {
        const patch = await entered(body, services);
        return ok(showApiKey(directory, await patchApiKey(directory, { teamId, clientId }, patch)));
      },
    }),
    endpoint('POST /teams/:id/api-keys/:clientId/secret', {
      access: { ...access, recent: true },
      operationId: 'rotateApiKeySecret',
      summary: 'Rotate the secret of an API key',
      description: 'The service accepts the previous secret for 24 hours, or until the next rotation of the secret.',
      responses: { 200: jsonResponse(ApiKeyShownOnce, 'The API key with its new secret.') },
      refuses: { conflict: otherCredential },
      async handle({ directory, team: { id: teamId }, params: { clientId } }) {
        const { apiKey, clientSecret } = await rotateApiKeySecret(directory, { teamId, clientId });
        return ok({ ...showApiKey(directory, apiKey), clientSecret });
      },
    }),
    endpoint('DELETE /teams/:id/api-keys/:clientId', {
      access: { ...access, recent: true },
      operationId: 'deleteApiKey',
      summary: 'Delete an API key',
      description: 'Tokens of the API key are refused from now on.',
      responses: { 204: done('The API key is deleted.') },
      handle: ({ directory, team, params }) => deleteApiKey(directory, team.id, params.clientId),
    }),
  ],
};

/** Converts the settings of a body to their stored form. @throws {Refusal} `invalid_time`, `invalid_body` */
async function entered(
  { expiresAt, publicKeys, trust, ...rest }: ApiKeyPatch,
  { issuerRules: { allowPrivate } }: Services,
) {
  return {
    ...rest,
    ...(expiresAt !== undefined && { expiresAt: readTime('expiresAt', expiresAt) }),
    ...(publicKeys !== undefined && { publicKeys: await readPublicKeys(publicKeys) }),
    ...(trust !== undefined && { trust: await readTrust(trust, allowPrivate) }),
  };
}

/** Formats an API key for a response, without its secret. The service stores only a hash of the secret. */
export function showApiKey(directory: Directory, apiKey: StoredApiKey): ApiKey {
  const { clientId, role, teamId, applications, expiresAt = null, publicKeys, trust, createdAt } = apiKey;
  const now = directory.clock.now();
  const used = directory.findLastUse(apiKey);
  return {
    clientId,
    ...pick(apiKey, plainKeySettings),
    role,
    teamId,
    scopes: [...listScopes(apiKey)],
    applications: applications ? [...applications] : null,
    credential: describeCredential(apiKey),
    ...(trust !== undefined && { trust: showTrust(trust) }),
    publicKeys: showKeys(publicKeys),
    expiresAt: timeText(expiresAt),
    lastUsedAt: timeText(used?.at ?? null),
    lastSubject: used?.subject ?? null,
    previousSecretUntil: timeText(findPreviousSecret(apiKey, now)?.until ?? null),
    warnings: listWarnings(apiKey, now),
    createdAt: timeText(createdAt),
  };
}

function describeCredential({ publicKeys, trust }: StoredApiKey): ApiKey['credential'] {
  if (trust !== undefined) return 'trust';
  return publicKeys === undefined ? 'secret' : 'public-keys';
}

function showTrust({ issuer, audience, subject, claims, publicKeys }: Trust) {
  return {
    issuer,
    audience,
    subject,
    ...(claims !== undefined && { claims: Object.fromEntries(claims) }),
    publicKeys: showKeys(publicKeys),
  };
}

function showKeys(keys: readonly PublicKey[] = []) {
  return keys.map(({ kid, alg }) => ({ kid, alg }));
}

function listWarnings(apiKey: StoredApiKey, now: number): ApiKey['warnings'] {
  if (!isUsable(apiKey, now))
    return [{ code: 'expired', message: 'This API key has expired: change its expiry, or delete it' }];
  const days = expiringDays(apiKey, now);
  if (days === undefined) return [];
  const when = days === 1 ? 'within a day' : `within ${days} days`;
  return [{ code: 'expiring', message: `This API key expires ${when}: change its expiry, or replace it` }];
}
