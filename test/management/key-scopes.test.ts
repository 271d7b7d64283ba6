import { describe, expect, test } from 'vitest';
import type { NewApiKey } from '../../src/accounts/api-keys.ts';
import type { KeyScope } from '../../src/contract/key-scopes.ts';
import { opened } from '../support/opened.ts';
import { openUsersFixture } from './people.ts';
import { routes } from './support/routes.ts';
import { goodRequest } from './support/targets.ts';
import { openWorld } from './support/world.ts';

const world = opened(openWorld);

/** Routes that an API key with only the scope `ingest-adopt` may call. */
const adopting = new Set([
  'GET /applications',
  'GET /applications/:id',
  'POST /applications/:id/keys/adopt',
  'GET /teams',
  'GET /users/me',
]);

/** The routes outside of applications that a bound key may call. Their responses show only the bound applications. */
const unbound = new Set(['GET /applications', 'GET /home', 'GET /search', 'GET /teams', 'GET /users/me']);

async function makeKey(settings: object): Promise<NewApiKey> {
  const path = `/api/v2/teams/${world.home.teamId}/api-keys`;
  const response = await world.send(world.asAdmin, 'POST', path, { name: 'Scoped', ...settings });
  expect(response.status).toBe(201);
  const { clientId, clientSecret } = (await response.json()) as Record<string, string>;
  return { apiKey: { clientId }, clientSecret } as unknown as NewApiKey;
}

async function refusals(token: string, prepare: (path: string) => Promise<void> = async () => {}) {
  const refused: string[] = [];
  for (const route of routes) {
    if (route === 'DELETE /teams/:id') continue;
    const { method, path, body } = await goodRequest(world, route);
    await prepare(path);
    const response = await world.send(`Bearer ${token}`, method, path.replace(':self', 'none'), body);
    const { code } = response.status === 403 ? ((await response.json()) as { code: string }) : { code: '' };
    if (code === 'forbidden') refused.push(route);
  }
  return refused;
}

const most = routes.filter((route) => route !== 'DELETE /teams/:id');

describe('an API key', () => {
  test('an API key with the scope ingest-adopt can adopt tokens, and read the data that adoption requires', async () => {
    const token = await world.fetchToken(await makeKey({ scopes: ['ingest-adopt'] }));
    expect(await refusals(token)).toEqual(most.filter((route) => !adopting.has(route)));
  });

  test('an API key that is bound to applications cannot access other applications, whatever its scopes', async () => {
    const key = await makeKey({ scopes: ['admin'] });
    const token = await world.fetchToken(key);
    const own = `/api/v2/teams/${world.home.teamId}/api-keys/${key.apiKey.clientId}`;
    const bindTo = async (path: string) => {
      const id = /^\/api\/v2\/applications\/(\w+)/.exec(path)?.[1];
      if (id === undefined) return;
      const response = await world.send(world.asAdmin, 'PATCH', own, { applications: [id] });
      expect(response.status).toBe(200);
    };
    await bindTo((await goodRequest(world, 'GET /applications/:id')).path);
    const isOutside = (route: string) => !route.includes('/applications/:id') && !unbound.has(route);
    expect(await refusals(token, bindTo)).toEqual(most.filter(isOutside));
    await bindTo((await goodRequest(world, 'GET /applications/:id')).path);
    expect(await refusals(token)).toEqual(most.filter((route) => !unbound.has(route)));
    const listed = await world.send(`Bearer ${token}`, 'GET', '/api/v2/applications?limit=200');
    expect(((await listed.json()) as { items: unknown[] }).items).toHaveLength(1);
  });
});

describe('the scopes of an API key', () => {
  async function open() {
    const fixture = await openUsersFixture();
    return { ...fixture, path: `/teams/${fixture.team.id}/api-keys` };
  }

  test.each<[object, readonly KeyScope[], string]>([
    [{}, ['write'], 'User'],
    [{ role: 'Viewer' }, ['read'], 'Viewer'],
    [{ role: 'Admin' }, ['admin'], 'Admin'],
    [{ scopes: ['read'] }, ['read'], 'Viewer'],
    [{ scopes: ['read', 'ingest-adopt'] }, ['read', 'ingest-adopt'], 'Viewer'],
    [{ scopes: ['ingest-adopt'] }, ['ingest-adopt'], 'Viewer'],
    [{ scopes: ['admin', 'read'] }, ['admin', 'read'], 'Admin'],
  ])('an API key created with %j has the scopes %j and the role %s', async (wanted, scopes, role) => {
    const { as, ada, path } = await open();
    const { json } = await as(ada, 'POST', path, { name: 'CI', ...wanted });
    expect(json).toMatchObject({ scopes, role });
  });

  test('new scopes and roles of an API key take effect immediately for its existing tokens', async () => {
    const { as, ada, call, path } = await open();
    const [own] = (await call('GET', path)).json.items;
    const change = (body: object) => as(ada, 'PATCH', `${path}/${own.clientId}`, body);
    expect((await change({ role: 'Viewer' })).json).toMatchObject({ scopes: ['read'], role: 'Viewer' });
    expect(await call('GET', '/applications')).toMatchObject({ status: 200 });
    const refused = await call('POST', '/applications', { name: 'Shop' });
    expect(refused).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    expect(refused.json.detail).toContain('scope admin');
    expect((await change({ scopes: ['admin'] })).status).toBe(200);
    expect(await call('POST', '/applications', { name: 'Shop' })).toMatchObject({ status: 201 });
  });

  test.each<[object]>([
    [{ scopes: [] }],
    [{ scopes: ['read', 'read'] }],
    [{ scopes: ['owner'] }],
    [{ scopes: ['read'], role: 'Viewer' }],
    [{ applications: [] }],
    [{ applications: ['none', 'none'] }],
    [{ applications: 'all' }],
  ])('creating an API key with %j is refused', async (wanted) => {
    const { as, ada, path } = await open();
    expect((await as(ada, 'POST', path, { name: 'CI', ...wanted })).status).toBe(400);
  });

  test('an API key can be bound only to applications of its team, and the binding can be removed', async () => {
    const { as, ada, path, application, tom, otherTeamId } = await open();
    const foreign = (await as(tom, 'POST', '/applications', { name: 'Other', teamId: otherTeamId })).json.id;
    for (const id of ['none', foreign]) {
      const refused = await as(ada, 'POST', path, { name: 'CI', applications: [application.id, id] });
      expect(refused).toMatchObject({ status: 404 });
    }
    const made = (await as(ada, 'POST', path, { name: 'CI', applications: [application.id] })).json;
    expect(made.applications).toEqual([application.id]);
    const freed = await as(ada, 'PATCH', `${path}/${made.clientId}`, { applications: null });
    expect(freed.json.applications).toBeNull();
  });
});
