import { describe, expect, test } from 'vitest';
import { verifyClient } from '../../src/accounts/api-keys.ts';
import { openPeopleFixture } from './people.ts';

async function open() {
  const fixture = await openPeopleFixture();
  return { ...fixture, path: `/teams/${fixture.team.id}/api-keys` };
}

describe('an API key', () => {
  test('is shown with its secret once, and has the role User by default', async () => {
    const { as, ada, path, team, clock, directory } = await open();
    const { status, json, headers, text } = await as(ada, 'POST', path, { name: 'CI' });
    expect(status).toBe(201);
    expect(json).toEqual({
      clientId: expect.stringMatching(/^client_/),
      clientSecret: expect.stringMatching(/^fm_secret_[0-9a-f]{64}$/),
      name: 'CI',
      role: 'User',
      teamId: team.id,
      createdAt: new Date(clock.now()).toISOString(),
    });
    expect(headers).toMatchObject({
      location: `/api/v2${path}/${json.clientId}`,
      'cache-control': 'no-store',
    });
    expect(text).not.toContain('hash');
    expect(verifyClient(directory, json.clientId, json.clientSecret)).toMatchObject({ role: 'User' });
    expect((await as(ada, 'POST', path, { name: 'CD', role: 'Admin' })).json.role).toBe('Admin');
  });

  test('is listed without its secret, in the order of creation and in pages', async () => {
    const { as, ada, path, pages, directory } = await open();
    for (const name of ['A', 'B', 'C']) await as(ada, 'POST', path, { name });
    const before = await pages(path, 200);
    const names = before.map(({ name }) => name);
    expect(names).toEqual(['Admin', 'User', 'A', 'B', 'C']);
    const seen = await pages(path, 2, async (page) => {
      if (page !== 0) return;
      await as(ada, 'DELETE', `${path}/${before[1].clientId}`);
      await as(ada, 'POST', path, { name: 'late' });
    });
    expect(seen.map(({ name }) => name)).toEqual([...names, 'late']);
    expect(directory.apiKeys.has(before[1].clientId)).toBe(false);
    expect(Object.keys(seen[0])).toEqual(['clientId', 'name', 'role', 'teamId', 'createdAt']);
  });

  test('is refused with its tokens after its deletion, also if it deletes itself', async () => {
    const { call, path } = await open();
    const [own] = (await call('GET', path)).json.items;
    expect(await call('DELETE', `${path}/${own.clientId}`)).toMatchObject({ status: 204, text: '' });
    expect(await call('GET', path)).toMatchObject({ status: 401 });
  });

  test('of another team is not found', async () => {
    const { as, ada, path, addClient, otherTeamId, directory } = await open();
    const { apiKey } = await addClient('User', otherTeamId);
    expect(await as(ada, 'DELETE', `${path}/${apiKey.clientId}`)).toMatchObject({ status: 404 });
    expect(directory.apiKeys.has(apiKey.clientId)).toBe(true);
  });

  test('is not created by a key deleted before the body arrives', async () => {
    const { slowly, tokens, ada, as, path } = await open();
    const late = await slowly({ ...ada, token: tokens.admin }, 'POST', path, { name: 'x', role: 'Admin' });
    const [own] = (await as(ada, 'GET', path)).json.items;
    await as(ada, 'DELETE', `${path}/${own.clientId}`);
    late.arrive();
    expect(await late.answer).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    });
    expect((await as(ada, 'GET', path)).json.items).toHaveLength(1);
  });

  test('is refused beyond the limit of the plan', async () => {
    const { as, ada, path, team } = await open();
    await as(ada, 'PATCH', `/teams/${team.id}`, { plan: 'free' });
    expect(await as(ada, 'POST', path, { name: 'third' })).toMatchObject({ status: 201 });
    const refused = await as(ada, 'POST', path, { name: 'fourth' });
    expect(refused).toMatchObject({ status: 403, json: { code: 'plan_limit' } });
  });

  test.each([[{}], [{ name: '' }], [{ name: 'a', role: 'Owner' }], [{ name: 'a', clientSecret: 'mine' }]])(
    'is not made of %j',
    async (body) => {
      const { as, ada, path } = await open();
      expect((await as(ada, 'POST', path, body)).status).toBe(400);
    },
  );
});
