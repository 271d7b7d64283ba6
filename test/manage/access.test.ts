import { describe, expect, test } from 'vitest';
import { createKey } from '../../src/accounts/application-keys.ts';
import { openManageFixture } from './fixture.ts';

/** Every route, and the status that each kind of caller gets. */
const routes = [
  { method: 'GET', path: '/applications', admin: 200, user: 200, stranger: 200 },
  { method: 'POST', path: '/applications', body: { name: 'New' }, admin: 201, user: 403, stranger: 201 },
  { method: 'GET', path: '/applications/:id', admin: 200, user: 200, stranger: 404 },
  { method: 'PATCH', path: '/applications/:id', body: { name: 'New' }, admin: 200, user: 403, stranger: 404 },
  { method: 'DELETE', path: '/applications/:id', admin: 204, user: 403, stranger: 404 },
  { method: 'GET', path: '/applications/:id/environments', admin: 200, user: 200, stranger: 404 },
  {
    method: 'POST',
    path: '/applications/:id/environments',
    body: { name: 'New' },
    admin: 201,
    user: 403,
    stranger: 404,
  },
  { method: 'DELETE', path: '/applications/:id/environments/Staging', admin: 204, user: 403, stranger: 404 },
  { method: 'GET', path: '/applications/:id/keys', admin: 200, user: 200, stranger: 404 },
  {
    method: 'POST',
    path: '/applications/:id/keys',
    body: { type: 'Mobile' },
    admin: 201,
    user: 403,
    stranger: 404,
  },
  { method: 'DELETE', path: '/applications/:id/keys/:keyId', admin: 204, user: 403, stranger: 404 },
] as const;

describe.each(routes)(
  '$method $path',
  ({ method, path, body, ...expected }: (typeof routes)[number] & { body?: unknown }) => {
    async function open() {
      const fixture = await openManageFixture();
      const { key } = await createKey(fixture.directory, fixture.application.id, { type: 'Frontend' });
      const target = path.replace(':id', fixture.application.id).replace(':keyId', key.id);
      return { ...fixture, target };
    }

    test.each(['admin', 'user', 'stranger'] as const)('answers the %s as it should', async (who) => {
      const { call, target, tokens } = await open();
      const answer = await call(method, target, body, tokens[who]);
      expect(answer.status).toBe(expected[who]);
      expect(answer.headers['cache-control'] ?? 'no-store').toBe('no-store');
      if (answer.status === 403) expect(answer.json.code).toBe('forbidden');
      if (answer.status === 404) expect(answer.json.code).toBe('not_found');
    });

    test('answers 401 with a challenge without a valid token, and changes nothing', async () => {
      const { callWith, target, tokens, clock, directory, application } = await open();
      const before = [directory.applications.get(application.id), directory.keysOf(application.id)];
      clock.advance(3_600_000);
      const bad = [
        [undefined, 'Bearer'],
        ['Basic abc', 'Bearer'],
        ['Bearer rubbish', 'Bearer error="invalid_token"'],
        [`Bearer ${tokens.admin}`, 'Bearer error="invalid_token"'],
      ] as const;
      for (const [authorization, challenge] of bad) {
        const answer = await callWith(authorization, method, target, body);
        expect(answer).toMatchObject({ status: 401, json: { code: 'unauthorized', status: 401 } });
        expect(answer.headers).toMatchObject({
          'www-authenticate': challenge,
          'content-type': 'application/problem+json',
        });
      }
      expect([directory.applications.get(application.id), directory.keysOf(application.id)]).toEqual(before);
    });
  },
);

test.each<{ method: string; path: string; body?: unknown }>(
  routes.filter(({ path }) => path.includes(':id')),
)('$method $path answers 404 for an application that is not there', async ({ method, path, body }) => {
  const { call, tokens } = await openManageFixture();
  const target = path.replace(':id', 'app_none').replace(':keyId', 'key_none');
  for (const token of Object.values(tokens)) {
    expect(await call(method, target, body, token)).toMatchObject({ status: 404 });
  }
});

test('a stranger cannot tell an application of another team from none', async () => {
  const { call, application, tokens } = await openManageFixture();
  const hidden = await call('DELETE', `/applications/${application.id}`, undefined, tokens.stranger);
  expect(await call('DELETE', '/applications/app_none', undefined, tokens.stranger)).toEqual(hidden);
});

test('lists show only what the caller is a member of', async () => {
  const { call, application, tokens } = await openManageFixture();
  const ids = async (token: string) =>
    (await call('GET', '/applications', undefined, token)).json.items.map(({ id }: { id: string }) => id);
  expect(await ids(tokens.user)).toEqual([application.id]);
  expect(await ids(tokens.stranger)).toEqual([]);
});

test('nobody makes an application in a team that is not his', async () => {
  const { call, strangersTeamId } = await openManageFixture();
  for (const teamId of [strangersTeamId, 'team_none']) {
    const answer = await call('POST', '/applications', { name: 'New', teamId });
    expect(answer).toMatchObject({
      status: 404,
      json: { code: 'not_found', detail: 'There is no such team' },
    });
  }
});
