import { describe, expect, test } from 'vitest';
import { ofTeam } from '../../src/accounts/accounts.ts';
import { createClient, deleteClient, type WantedClient } from '../../src/accounts/clients.ts';
import { matchesHash } from '../../src/accounts/secrets.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { openFixture, reopen } from './fixture.ts';

const redirectUris = ['https://shop.example.com/callback'];

async function openClients() {
  const fixture = await openFixture();
  const create = (wanted: Partial<WantedClient> = {}) =>
    createClient(fixture.directory, {
      teamId: fixture.team.id,
      name: 'Shop',
      redirectUris,
      confidential: false,
      ...wanted,
    });
  return { ...fixture, create };
}

describe('a sign-in client', () => {
  test("a public client has no secret, and only the hash of a confidential client's secret is stored", async () => {
    const fixture = await openClients();
    const app = await fixture.create();
    expect(app).toMatchObject({ clientSecret: null, client: { secretHash: null, redirectUris } });
    const server = await fixture.create({ confidential: true });
    expect(matchesHash(server.clientSecret ?? '', server.client.secretHash ?? '')).toBe(true);
    expect(server.client.clientId).toMatch(/^signin_[0-9a-f]{24}$/);
    const { clients } = reopen(fixture);
    expect([app, server].map(({ client }) => clients.get(client.clientId))).toEqual([app.client, server.client]);
  });

  test('only the team that registered a client can delete the client', async () => {
    const { directory, team, create } = await openClients();
    const { client } = await create();
    const other = await createTeam(directory, 'Other');
    expect(ofTeam(directory.clients, other.id)).toEqual([]);
    await expect(deleteClient(directory, other.id, client.clientId)).rejects.toThrow('no such sign-in client');
    await deleteClient(directory, team.id, client.clientId);
    expect(ofTeam(directory.clients, team.id)).toEqual([]);
  });

  test.each<[Partial<WantedClient>, string]>([
    [{ teamId: 'team_none' }, 'not_found'],
    [{ name: '' }, 'invalid_name'],
    [{ name: 'Flagmeter Console' }, 'invalid_name'],
    [{ name: 'fl\u0430gmeter' }, 'invalid_name'],
    [{ redirectUris: [] }, 'invalid_body'],
    [{ redirectUris: Array.from({ length: 21 }, (_, at) => `${redirectUris[0]}/${at}`) }, 'invalid_body'],
    [{ redirectUris: [...redirectUris, 'http://shop.example.com/'] }, 'invalid_body'],
  ])('creating a sign-in client with %j is refused with the code %s', async (wanted, code) => {
    const { directory, team, create } = await openClients();
    await expect(create(wanted)).rejects.toMatchObject({ code });
    expect(ofTeam(directory.clients, team.id)).toEqual([]);
  });

  test('the refusal of a new client names the invalid redirect URI', async () => {
    const { create } = await openClients();
    const refused = create({ redirectUris: [...redirectUris, 'javascript:alert(1)'] });
    await expect(refused).rejects.toThrow('`redirectUris[1]` must be https:');
  });
});
