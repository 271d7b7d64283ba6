import { randomUUID } from 'node:crypto';
import { completeProvider } from '../../../src/accounts/identity-providers.ts';
import { maxSignInAge } from '../../../src/contract/step-up.ts';
import { createKey } from '../../support/binary.ts';
import { crowdedReports } from './crowd.ts';
import type { DocumentedRequest, Recipe } from './recipe.ts';
import { ask, make, ofUserWithoutPassword, takeUser } from './targets.ts';
import { wideReport } from './wide-application.ts';
import type { Lot, World } from './world.ts';

const features = '/applications/:id/features';
const notes = `${features}/:feature/notes`;
const metric = '/applications/:id/metrics/:metric';
const scan = '/applications/:id/code-scans/:repository';
const experiments = '/applications/:id/experiments';

const columns = Object.fromEntries(Array.from({ length: 21 }, (_, page) => [`page-${page}`, ['users']]));

const provider = { name: 'Corp', issuer: 'http://login.invalid', clientId: 'flagmeter' };

const plan = { feature: 'checkout', name: 'A', environment: 'Production', base: 'off', metric: 'used', users: 1000 };

const afterPath =
  (more: string): Recipe =>
  async (_world, { path }) => ({ path: `${path}${more}` });

const withBody =
  (body: object): Recipe =>
  async () => ({ body });

/** Returns a recipe that replaces a field of the valid body. */
const but =
  (fields: object): Recipe =>
  async (_world, { body }) => ({ body: { ...(body as object), ...fields } });

/** Returns a recipe that replaces a part of the valid path. */
const replacing =
  (part: string | RegExp, by: string): Recipe =>
  async (_world, { path }) => ({ path: path.replace(part, by) });

const again: Recipe = async () => ({ again: () => ({}) });

const publicJwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };

/** Recipes for responses that only one route has, or that need special setup. */
export const specialRecipes: Readonly<Record<string, Recipe>> = {
  [`PUT ${metric} 201`]: afterPath('-new'),
  'PUT /teams/:id/members/:userId 201': addSomebody,
  'PUT /teams/:id/members/:userId store_unavailable': addSomebody,

  'DELETE /applications/:id/identities invalid_query': replacing(/\?.*/, ''),
  'POST /applications not_found': withBody({ name: 'Shop', teamId: 'none' }),
  'POST /applications not_in_team': async ({ outsider }) => ({ body: { name: 'Shop', teamId: outsider.primaryTeam } }),
  'POST /users not_in_team': async ({ outsider }) => ({
    body: { name: 'Ada', email: 'x@example.com', teams: outsider.teams },
  }),
  'POST /users not_found': withBody({ name: 'Ada', email: 'x@example.com', teams: ['none'] }),
  [`GET ${features}/:feature not_found`]: afterPath('-none'),
  [`PATCH ${features}/:feature not_found`]: afterPath('-none'),
  [`POST ${features} invalid_name`]: withBody({ name: '__other__' }),
  [`PATCH ${features}/:feature invalid_name`]: withBody({ split: { '': 1 } }),
  [`PATCH ${features}/:feature invalid_time`]: withBody({ snoozedUntil: 'tomorrow' }),
  [`POST ${notes} invalid_time`]: withBody({ text: 'Rollout', at: 'now' }),
  [`POST ${notes} unknown_environment`]: withBody({ text: 'Rollout', environment: 'Nowhere' }),
  [`GET ${features} invalid_query`]: afterPath('?environment='),
  [`GET ${features}/:feature/verdict invalid_query`]: afterPath('?environment='),
  [`GET ${features}/:feature/senders invalid_query`]: afterPath('?environment='),
  [`GET ${features}/:feature/senders not_found`]: replacing('/senders', '-none/senders'),
  [`GET ${features}/:feature/verdict not_found`]: replacing('/verdict', '-none/verdict'),
  [`POST ${notes} not_found`]: replacing('/notes', '-none/notes'),
  [`POST ${notes} conflict`]: again,
  [`PUT ${metric} invalid_name`]: replacing(/[^/]+$/, '__other__'),
  'GET /applications/:id/ingest invalid_query': afterPath('?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z'),

  'GET /applications/:id/overview/users unknown_environment': replacing('Production', 'Nowhere'),
  'POST /applications/:id/imports unknown_environment': but({ environment: 'Nowhere' }),
  'POST /applications/:id/imports body_too_large': withBody(' '.repeat(600_000) as unknown as object),
  'GET /applications/:id/prometheus invalid_query': afterPath('?environment='),
  'GET /applications/:id/overview 304': async () => ({ headers: { 'if-none-match': '*' } }),

  'POST /applications/:id/keys/adopt invalid_body': withBody(adopted({ token: 'two words' })),
  'POST /applications/:id/keys conflict': again,
  'POST /applications/:id/keys/adopt conflict': again,
  'POST /applications/:id/keys/adopt unknown_environment': withBody(adopted({ environment: 'Nowhere' })),
  'POST /applications/:id/environments conflict': withBody({ name: 'Production' }),
  [`POST ${features} conflict`]: again,
  'POST /teams conflict': async ({ fetchToken, empty }) => ({
    authorization: `Bearer ${await fetchToken(empty.keys.Admin)}`,
  }),
  'PATCH /teams/:id conflict': async (world) => ({ path: await crowdedTeam(world, 4), body: { plan: 'free' } }),
  'DELETE /teams/:id conflict': async (world) => ({ path: await crowdedTeam(world, 1) }),
  'PUT /teams/:id/members/:userId conflict': demoteLastAdmin,
  'DELETE /teams/:id/members/:userId conflict': leaveOnlyTeam,
  'POST /users conflict': withBody({ name: 'Ada', email: 'ADA@example.com' }),
  'PATCH /users/:id conflict': withBody({ email: 'ADA@example.com' }),
  'PATCH /users/:id insufficient_user_authentication': async ({ sign, admin }) => ({
    authorization: `Bearer ${await sign(admin, 0, 'openid flagmeter', maxSignInAge + 1)}`,
    body: { role: 'Admin' },
  }),
  'DELETE /users/:id conflict': async ({ admin }) => ({ path: `/api/v2/users/${admin.id}` }),
  'PATCH /users/:id/passkeys/:passkeyId not_found': afterPath('-none'),
  'DELETE /users/:id/passkeys/:passkeyId not_found': afterPath('-none'),
  'DELETE /users/:id/identities/:identityId conflict': ofUserWithoutPassword,
  'POST /users/:id/reset-link conflict': ofCaller,
  'DELETE /users/:id/reset-link conflict': ofCaller,
  'DELETE /users/:id/reset-link not_found': async (world, { path }) => {
    await world.send(world.asAdmin, 'DELETE', path);
    return {};
  },

  'POST /teams/:id/api-keys invalid_body': withBody({ name: 'CI', expiresAt: '2026-01-01T00:00:00Z' }),
  'PATCH /teams/:id/api-keys/:clientId invalid_body': withBody({ expiresAt: '2026-01-01T00:00:00Z' }),
  'POST /teams/:id/api-keys invalid_time': withBody({ name: 'CI', expiresAt: 'tomorrow' }),
  'PATCH /teams/:id/api-keys/:clientId invalid_time': withBody({ expiresAt: 'tomorrow' }),
  'PATCH /teams/:id/api-keys/:clientId conflict': withBody({ publicKeys: [publicJwk] }),
  'POST /teams/:id/api-keys/:clientId/secret conflict': async (world, { path }) => {
    const list = path.replace(/\/[^/]+\/secret$/, '');
    const clientId = await make(world, list, { name: 'CI', publicKeys: [publicJwk] }, 'clientId');
    return { path: `${list}/${clientId}/secret` };
  },
  'POST /applications/:id/keys/:keyId/rotate conflict': again,

  ...crowdedReports,

  'GET /users/me/preferences forbidden': asApiKey,
  'PATCH /users/me/preferences forbidden': asApiKey,
  'PATCH /users/me/preferences plan_limit': withBody({ columns }),
  'POST /applications/:id/views plan_limit': again,
  'PATCH /applications/:id/views/:viewId forbidden': asUser,

  [`GET ${features}/:feature/comparison not_found`]: replacing('/comparison', '-none/comparison'),
  [`GET ${features}/:feature/split not_found`]: replacing('/split', '-none/split'),
  [`POST ${experiments} invalid_name`]: but({ base: '' }),
  [`POST ${experiments} invalid_time`]: but({ startAt: 'soon' }),
  [`POST ${experiments} unknown_environment`]: but({ environment: 'Nowhere' }),
  [`POST ${experiments} conflict`]: again,
  // The list needs a computation only for an experiment with a planned number of users.
  [`GET ${experiments} backpressure`]: async (world, { path }) => {
    await make(world, path, plan, 'id');
    return {};
  },
  [`PATCH ${experiments}/:experimentId invalid_name`]: withBody({ base: '' }),
  [`PATCH ${experiments}/:experimentId invalid_time`]: withBody({ startAt: 'soon' }),
  [`PATCH ${experiments}/:experimentId unknown_environment`]: withBody({ environment: 'Nowhere' }),
  [`PATCH ${experiments}/:experimentId conflict`]: withBody({ users: 5000 }),
  // Each request stops a different experiment, because an experiment can be stopped only once.
  [`PATCH ${experiments}/:experimentId backpressure`]: async (world, { path }) => {
    const all = path.slice(0, path.lastIndexOf('/'));
    const ids: string[] = [];
    for (let at = 0; at < 60; at += 1) ids.push(await make(world, all, { ...plan, feature: `crowd-${at % 3}` }, 'id'));
    return { body: { stop: 'Too many errors' }, again: (time) => ({ path: `${all}/${ids[time % ids.length]}` }) };
  },

  'POST /identity-providers invalid_body': withBody(provider),
  'POST /identity-providers plan_limit': again,
  'PATCH /identity-providers/:providerId invalid_body': withBody({ issuer: provider.issuer }),
  'PATCH /identity-providers/:providerId conflict': ofOperator,
  'DELETE /identity-providers/:providerId conflict': ofOperator,

  [`PUT ${scan} invalid_name`]: async (_world, { path }) => ({ path: path.replace(/[^/]+$/, 'a'.repeat(300)) }),
  [`PUT ${scan} conflict`]: async (_world, { path }) => ({
    again: (time) => ({ path: path.replace(/[^/]+$/, `repository-${time}`) }),
  }),
  [`PUT ${scan} body_too_large`]: async () => ({ body: ' '.repeat(5_000_000) }),
  'GET /applications/:id/cleanup invalid_query': afterPath('?environment='),
  'GET /applications/:id/health invalid_query': replacing(/\?.*|$/, '?environment='),

  'POST /teams/:id/webhooks invalid_body': withBody({
    name: 'Chat',
    url: 'http://hooks.invalid/',
    events: ['flag.stale'],
  }),
  'PATCH /teams/:id/webhooks/:webhookId invalid_body': withBody({ url: 'http://hooks.invalid/' }),
  'POST /teams/:id/webhooks/:webhookId/test conflict': disabledWebhook,
  'POST /teams/:id/webhooks/:webhookId/deliveries/:deliveryId/redeliver conflict': disabledWebhook,

  'POST /applications plan_limit': async (world) => {
    const { teamId } = await freeLot(world);
    return { body: { name: 'Shop', teamId }, again: () => ({}) };
  },
  'PATCH /applications/:id plan_limit': withBody({ allowedOrigins: Array(101).fill('https://shop.example') }),
  'POST /applications/:id/environments plan_limit': fillUp('environments', (time) => ({ name: `Test ${time}` })),
  'POST /applications/:id/keys plan_limit': fillUp('keys', () => ({ type: 'Mobile' })),
  'POST /applications/:id/keys/adopt plan_limit': fillUp('keys/adopt', () => adopted({})),
  [`POST ${features} plan_limit`]: fillUp('features', (time) => ({ name: `feature-${time}` })),
  [`PATCH ${features}/:feature plan_limit`]: declareOneMore,
  'POST /applications/:id/experiments plan_limit': async (world) => ({
    path: (await declareOneMore(world)).path!.replace('/features/seen', '/experiments'),
  }),
  [`PUT ${metric} plan_limit`]: async (world) => {
    const path = await freeApplication(world);
    return { again: (time) => ({ path: `${path}/metrics/metric-${time}` }) };
  },
  'POST /teams plan_limit': async ({ send, sign, outsider }) => {
    const authorization = `Bearer ${await sign(outsider)}`;
    await send(authorization, 'PATCH', `/api/v2/teams/${outsider.primaryTeam}`, { plan: 'free' });
    return { authorization, body: { name: 'Shop', plan: 'free' }, again: () => ({}) };
  },
  'PUT /teams/:id/members/:userId plan_limit': async (world) => {
    const lot = await freeLot(world);
    return { again: () => ({ path: takeMemberPath(world, lot) }) };
  },
  'POST /teams/:id/api-keys plan_limit': inFreeTeam('api-keys'),
  'POST /teams/:id/clients invalid_name': withBody({
    name: 'Flagmeter Console',
    type: 'public',
    redirectUris: ['https://shop.example/callback'],
  }),
  'POST /teams/:id/clients plan_limit': inFreeTeam('clients'),
  'POST /teams/:id/webhooks plan_limit': inFreeTeam('webhooks'),
  'POST /users plan_limit': async (world) => {
    const teams = [(await freeLot(world)).teamId];
    return { again: (time) => ({ body: { name: 'New', email: `${teams[0]}-${time}@example.com`, teams } }) };
  },

  'GET /applications/:id/usage too_many_points': async (world) => ({ path: await wideReport(world, 'usage') }),
  'GET /applications/:id/measurements too_many_points': async (world) => ({
    path: await wideReport(world, 'measurements'),
  }),

  'POST /users backpressure': withBody({ name: 'Ada', email: 'y@example.com', password: 'a long password' }),
  'PATCH /users/:id backpressure': async ({ admin }) => ({
    path: `/api/v2/users/${admin.id}`,
    body: { password: 'a long password', currentPassword: 'another one' },
  }),

  'POST /api/account/invalidate-token 200': anyToken,
  'POST /api/account/invalidate-token store_unavailable': anyToken,
  'POST /api/account/invalidate-token 400': async () => ({ authorization: 'Bearer not-a-token' }),
  'POST /api/account/invalidate-token 401': async () => ({ authorization: undefined }),
  'GET /api/v2/openapi.json 200': async () => ({ authorization: undefined }),
  'GET /api/v2/openapi.json 304': async () => ({ headers: { 'if-none-match': '*' } }),
};

async function ofCaller({ admin }: World): Promise<Partial<DocumentedRequest>> {
  return { path: `/api/v2/users/${admin.id}/reset-link` };
}

/** Returns a request body for adopting a new token. */
function adopted(more: object): object {
  return { token: randomUUID(), type: 'Backend', environment: 'Production', ...more };
}

/** Disables the webhook of the request. The request itself is not changed. */
async function disabledWebhook(world: World, { path }: DocumentedRequest): Promise<Partial<DocumentedRequest>> {
  const [webhook = ''] = /.*\/webhooks\/[^/]+/.exec(path) ?? [];
  await ask(world, 'PATCH', webhook, { enabled: false });
  return {};
}

async function anyToken({ sign, admin }: World): Promise<Partial<DocumentedRequest>> {
  // Uses a separate session: invalidating a token ends it.
  return { authorization: `Bearer ${await sign(admin, 0, 'openid flagmeter', 2)}` };
}

async function freeLot(world: World): Promise<Lot> {
  const lot = world.spareLots.pop()!;
  await ask(world, 'PATCH', `/api/v2/teams/${lot.teamId}`, { plan: 'free' });
  return lot;
}

async function freeApplication(world: World): Promise<string> {
  const { teamId } = await freeLot(world);
  return `/api/v2/applications/${await make(world, '/api/v2/applications', { name: 'Shop', teamId }, 'id')}`;
}

/** Creates objects of an application until the limit is reached. */
function fillUp(collection: string, createBody: (time: number) => object): Recipe {
  return async (world) => ({
    path: `${await freeApplication(world)}/${collection}`,
    again: (time) => ({ body: createBody(time) }),
  });
}

/** Creates objects of a team on the free plan until the limit is reached. */
function inFreeTeam(collection: string): Recipe {
  return async (world) => ({ path: `/api/v2/teams/${(await freeLot(world)).teamId}/${collection}`, again: () => ({}) });
}

async function crowdedTeam(world: World, applications: number): Promise<string> {
  const { teamId } = world.spareLots.pop()!;
  for (let at = 0; at < applications; at += 1) {
    await make(world, '/api/v2/applications', { name: 'Shop', teamId }, 'id');
  }
  return `/api/v2/teams/${teamId}`;
}

function takeMemberPath(world: World, { teamId }: Lot): string {
  return `/api/v2/teams/${teamId}/members/${takeUser(world)}`;
}

/** Creates a request that adds a user to another team. */
async function addSomebody(world: World): Promise<Partial<DocumentedRequest>> {
  return { path: takeMemberPath(world, world.spareLots.pop()!) };
}

async function leaveOnlyTeam(world: World): Promise<Partial<DocumentedRequest>> {
  const { teamId } = world.spareLots.pop()!;
  const body = { name: 'Bob', email: 'bob@example.com', role: 'Admin', teams: [teamId] };
  const id = await make(world, '/api/v2/users', body, 'id');
  const token = await world.sign({ ...world.admin, id, teams: [teamId], primaryTeam: teamId });
  return { authorization: `Bearer ${token}`, path: `/api/v2/teams/${teamId}/members/${id}` };
}

/** Creates a request in which an API key changes the role of the last Admin of its team. */
async function demoteLastAdmin(world: World): Promise<Partial<DocumentedRequest>> {
  const { teamId, keys } = world.spareLots.pop()!;
  const authorization = `Bearer ${await world.fetchToken(keys.Admin)}`;
  const team = `/api/v2/teams/${teamId}`;
  await world.send(authorization, 'PATCH', team, { name: 'Shop' });
  await world.send(authorization, 'DELETE', `${team}/members/${world.lead.id}`);
  return { authorization, path: `${team}/members/${world.admin.id}`, body: { role: 'User' } };
}

/** Creates a request to change an undeclared feature at the limit of declarations. */
async function declareOneMore(world: World): Promise<Partial<DocumentedRequest>> {
  const path = await freeApplication(world);
  const token = world.asAdmin.replace('Bearer ', '');
  const { key } = await createKey(world.service.http, token, path.split('/').at(-1)!, 'Mobile');
  const packet = { k: key, e: 'Production', f: { seen: { on: [1] } } };
  const type = { 'content-type': 'application/json' };
  await world.send(undefined, 'POST', '/api/frontend/telemetry', packet, type);
  for (let at = 0; at < 200; at += 1) await ask(world, 'POST', `${path}/features`, { name: `feature-${at}` });
  return { path: `${path}/features/seen` };
}

/** Makes a shared view of the Admin private, as a User. */
async function asUser({ sign, user }: World): Promise<Partial<DocumentedRequest>> {
  return { authorization: `Bearer ${await sign(user)}`, body: { shared: false } };
}

async function asApiKey({ fetchToken, home }: World): Promise<Partial<DocumentedRequest>> {
  return { authorization: `Bearer ${await fetchToken(home.keys.Admin)}` };
}

async function ofOperator({ service }: World, { path }: DocumentedRequest): Promise<Partial<DocumentedRequest>> {
  const settings = completeProvider(provider, { allowPrivate: true });
  const configured = { id: 'corp', number: 0, ...settings, createdAt: 0, updatedAt: 0 };
  service.setProviders({ file: '/etc/flagmeter/providers.json', providers: [configured] });
  return { path: path.replace(/[^/]+$/, configured.id) };
}
