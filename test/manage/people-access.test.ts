import { describe, expect, test } from 'vitest';
import { createClient } from '../../src/accounts/clients.ts';
import type { Answer } from '../auth/fixture.ts';
import { openPeopleFixture } from './people.ts';

const app = { name: 'App', type: 'public', redirectUris: ['https://app.example/'] };

/**
 * Every route of teams and users, and the status that each kind of caller gets: an Admin, his team's API key that is one, a
 * User, the User who `:self` is, and an Admin of another team.
 */
const routes: readonly (readonly [
  route: string,
  body: object | undefined,
  expected: readonly [admin: number, key: number, user: number, stranger: number],
])[] = [
  ['GET /teams', undefined, [200, 200, 200, 200]],
  ['POST /teams', { name: 'New' }, [201, 201, 403, 201]],
  ['GET /teams/:id', undefined, [200, 200, 200, 404]],
  ['PATCH /teams/:id', { name: 'New' }, [200, 200, 403, 404]],
  ['DELETE /teams/:id', undefined, [409, 409, 403, 404]],
  ['GET /teams/:id/members', undefined, [200, 200, 200, 404]],
  ['GET /teams/:id/members/:user', undefined, [200, 200, 200, 404]],
  ['PUT /teams/:id/members/:user', undefined, [200, 200, 403, 404]],
  ['DELETE /teams/:id/members/:user', undefined, [204, 204, 403, 404]],
  ['GET /teams/:id/api-keys', undefined, [200, 200, 403, 404]],
  ['POST /teams/:id/api-keys', { name: 'New' }, [201, 201, 403, 404]],
  ['DELETE /teams/:id/api-keys/:apiKey', undefined, [204, 204, 403, 404]],
  ['GET /teams/:id/clients', undefined, [200, 200, 403, 404]],
  ['POST /teams/:id/clients', app, [201, 201, 403, 404]],
  ['DELETE /teams/:id/clients/:client', undefined, [204, 204, 403, 404]],
  ['GET /users', undefined, [200, 200, 200, 200]],
  ['POST /users', { email: 'new@example.com', name: 'New' }, [201, 201, 403, 201]],
  ['GET /users/me', undefined, [200, 200, 200, 200]],
  ['GET /users/:user', undefined, [200, 200, 200, 404]],
  ['PATCH /users/:user', { name: 'New' }, [200, 200, 403, 404]],
  ['PATCH /users/:self', { name: 'New' }, [200, 200, 200, 404]],
  ['DELETE /users/:user', undefined, [204, 204, 403, 404]],
  ['DELETE /users/:self', undefined, [204, 204, 403, 404]],
];

const callers = ['admin', 'key', 'user', 'stranger'] as const;

async function open(route: string) {
  const fixture = await openPeopleFixture();
  const { directory, team, ada, eve, tom, person, addClient } = fixture;
  const [method = '', pattern = ''] = route.split(' ');
  const { user } = await person('Zoe');
  const { clientId } = (await addClient('User')).apiKey;
  const wanted = { teamId: team.id, name: 'App', redirectUris: app.redirectUris, confidential: true };
  const { client } = await createClient(directory, wanted);
  const ids = { id: team.id, user: user.id, self: eve.user.id, apiKey: clientId, client: client.clientId };
  const target = pattern.replaceAll(/:(\w+)/g, (_, name: keyof typeof ids) => ids[name]);
  return { ...fixture, method, target, who: { admin: ada, key: undefined, user: eve, stranger: tom } };
}

describe.each(routes)('%s', (route, body, expected) => {
  test.each(callers)('answers the %s as it should', async (caller) => {
    const { as, who, method, target } = await open(route);
    const answer: Answer = await as(who[caller], method, target, body);
    expect(answer.status).toBe(expected[callers.indexOf(caller)]);
    expect(answer.headers['cache-control'] ?? 'no-store').toBe('no-store');
    if (answer.status === 403) expect(answer.json.code).toBe('forbidden');
  });

  test('answers 401 without a valid token, and changes nothing', async () => {
    const { callWith, method, target, tokens, clock, directory } = await open(route);
    const state = () =>
      [directory.teams, directory.users, directory.apiKeys, directory.clients].map(($) => [...$]);
    const before = state();
    clock.advance(3_600_000);
    for (const authorization of [undefined, 'Basic abc', 'Bearer rubbish', `Bearer ${tokens.admin}`]) {
      expect(await callWith(authorization, method, target, body)).toMatchObject({ status: 401 });
    }
    expect(state()).toEqual(before);
  });
});

test('a User who was made an Admin after his token was issued waits for the next one', async () => {
  const { as, ada, eve, team } = await openPeopleFixture();
  await as(ada, 'PATCH', `/users/${eve.user.id}`, { role: 'Admin' });
  expect(await as(eve, 'PATCH', `/teams/${team.id}`, { name: 'New' })).toMatchObject({ status: 403 });
});

test('an Admin who was made a User is none from the next request on', async () => {
  const { as, ada, bob, team } = await openPeopleFixture();
  await as(bob, 'PATCH', `/users/${ada.user.id}`, { role: 'User' });
  expect(await as(ada, 'PATCH', `/teams/${team.id}`, { name: 'New' })).toMatchObject({ status: 403 });
  expect(await as(ada, 'GET', `/teams/${team.id}`)).toMatchObject({ status: 200 });
});
