import { describe, expect, test } from 'vitest';
import { matchesHash } from '../../src/accounts/secrets.ts';
import { openUsersFixture } from './people.ts';

const redirectUris = ['https://app.example/callback', 'http://127.0.0.1/callback'];

async function open() {
  const fixture = await openUsersFixture();
  return { ...fixture, path: `/teams/${fixture.team.id}/clients` };
}

describe('a sign-in client', () => {
  test('a confidential client is shown with its secret once', async () => {
    const { as, ada, path, team, clock, directory } = await open();
    const wanted = { name: 'App', type: 'confidential', redirectUris };
    const { status, json, headers } = await as(ada, 'POST', path, wanted);
    expect(status).toBe(201);
    const { clientSecret, ...client } = json;
    const createdAt = new Date(clock.now()).toISOString();
    const rest = { teamId: team.id, publicKeys: [], createdAt };
    expect(client).toEqual({ clientId: expect.any(String), ...wanted, ...rest });
    expect(headers['location']).toBe(`/api/v2${path}/${client.clientId}`);
    expect(matchesHash(clientSecret, directory.clients.get(client.clientId)?.secretHash ?? '')).toBe(true);
    expect((await as(ada, 'GET', path)).json).toEqual({ items: [client], nextCursor: null });
  });

  test('a public client has no secret', async () => {
    const { as, ada, path, directory } = await open();
    const { json } = await as(ada, 'POST', path, { name: 'App', type: 'public', redirectUris });
    expect(json).not.toHaveProperty('clientSecret');
    expect(json.type).toBe('public');
    expect(directory.clients.get(json.clientId)?.secretHash).toBeNull();
  });

  test('only the team of a sign-in client can delete the client', async () => {
    const { as, ada, tom, path, otherTeamId } = await open();
    const { json } = await as(ada, 'POST', path, { name: 'App', type: 'public', redirectUris });
    const other = `/teams/${otherTeamId}/clients/${json.clientId}`;
    expect(await as(tom, 'DELETE', other)).toMatchObject({ status: 404 });
    expect(await as(ada, 'DELETE', `${path}/${json.clientId}`)).toMatchObject({ status: 204 });
    expect((await as(ada, 'GET', path)).json.items).toEqual([]);
  });

  test('creating a sign-in client beyond the limit of the plan is refused', async () => {
    const { as, ada, path, team } = await open();
    await as(ada, 'PATCH', `/teams/${team.id}`, { plan: 'free' });
    const make = () => as(ada, 'POST', path, { name: 'App', type: 'public', redirectUris });
    const made = await Promise.all([make(), make(), make(), make()]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 403]);
  });

  test.each<[object]>([
    [{ name: 'App', type: 'public', redirectUris: ['http://app.example/'] }],
    [{ name: 'App', type: 'public', redirectUris: ['https://app.example/#x'] }],
    [{ name: 'App', type: 'public', redirectUris: ['javascript:alert(1)'] }],
  ])('a sign-in client cannot be created from %j', async (body) => {
    const { as, ada, path, directory } = await open();
    expect((await as(ada, 'POST', path, body)).status).toBe(400);
    expect(directory.clients.size).toBe(0);
  });
});
