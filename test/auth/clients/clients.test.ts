import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/accounts/clients.ts';
import { authenticateClient, findClient, matchesRedirect, teamsThrough } from '../../../src/auth/oauth/clients.ts';
import { parseForm } from '../../../src/auth/oauth/forms.ts';
import { openAuthFixture } from '../fixture.ts';

const baseUrl = 'https://flags.example.com';

async function openClients() {
  const fixture = await openAuthFixture();
  const { directory, team, addClient } = fixture;
  const wanted = { teamId: team.id, name: 'Shop', redirectUris: ['https://shop.example.com/callback'] };
  return {
    directory,
    key: await addClient('User'),
    app: (await createClient(directory, { ...wanted, confidential: false })).client,
    server: await createClient(directory, { ...wanted, confidential: true }),
  };
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

describe('authenticateClient', () => {
  test('accepts a secret in the form or in the header', async () => {
    const { directory, key, server } = await openClients();
    const credentials = [
      ['api-key', key.apiKey.clientId, key.clientSecret],
      ['sign-in', server.client.clientId, server.clientSecret ?? ''],
    ] as const;
    for (const [kind, id, secret] of credentials) {
      const form = parseForm(`client_id=${id}&client_secret=${secret}`);
      expect(authenticateClient(directory, undefined, form)).toMatchObject({ kind, id });
      expect(authenticateClient(directory, basic(id, secret), parseForm(''))).toMatchObject({ kind, id });
    }
  });

  test('accepts a public client without a secret', async () => {
    const { directory, app } = await openClients();
    for (const id of [app.clientId, 'flagmeter-cli', 'flagmeter-console'])
      expect(authenticateClient(directory, undefined, parseForm(`client_id=${id}`))).toMatchObject({ id });
  });

  test('returns the same error for every failed client authentication, regardless of the client id', async () => {
    const { directory, key, app, server } = await openClients();
    const ids = [key.apiKey.clientId, server.client.clientId, app.clientId, 'flagmeter-cli', 'unknown', '__proto__'];
    const refusals = ids.map((id) => {
      const form = parseForm(`client_id=${id}&client_secret=wrong`);
      return [
        () => authenticateClient(directory, undefined, form),
        () => authenticateClient(directory, basic(id, 'wrong'), parseForm('')),
      ];
    });
    const secretless = [key.apiKey.clientId, server.client.clientId, 'unknown', ''].map(
      (id) => () => authenticateClient(directory, undefined, parseForm(`client_id=${id}`)),
    );
    for (const refused of [...refusals.flat(), ...secretless]) {
      const message = 'The client is unknown or its secret is wrong';
      expect(refused).toThrow(expect.objectContaining({ code: 'invalid_client', status: 401, message }));
    }
  });
});

describe('matchesRedirect', () => {
  test('lets the console redirect only to the base URL', async () => {
    const { directory } = await openClients();
    const client = findClient(directory, 'flagmeter-console')!;
    expect(client).toMatchObject({ teamId: null, secretHash: null });
    expect(matchesRedirect(client, `${baseUrl}/console/callback`, baseUrl)).toBe(true);
    expect(matchesRedirect(client, '/console/callback', baseUrl)).toBe(false);
    const local = 'http://127.0.0.1:8080';
    expect(matchesRedirect(client, `${local}/console/callback`, local)).toBe(true);
    expect(matchesRedirect(client, 'http://127.0.0.1:8081/console/callback', local)).toBe(false);
  });

  test('lets the command line redirect to any port of the loopback address', async () => {
    const { directory } = await openClients();
    const client = findClient(directory, 'flagmeter-cli')!;
    for (const host of ['127.0.0.1', '[::1]'])
      expect(matchesRedirect(client, `http://${host}:4711/callback`, baseUrl)).toBe(true);
    expect(matchesRedirect(client, 'http://localhost:4711/callback', baseUrl)).toBe(false);
  });
});

describe('teamsThrough', () => {
  const user = { teams: ['team_1', 'team_2'], primaryTeam: 'team_1' };

  test('returns all teams of the user for a built-in client, and only the team of the client for another client', async () => {
    const { directory, app } = await openClients();
    expect(teamsThrough(user, findClient(directory, 'flagmeter-cli'))).toEqual(user);
    const own = { ...user, teams: ['team_2', String(app.teamId)] };
    expect(teamsThrough(own, app)).toEqual({ teams: [app.teamId], primaryTeam: app.teamId });
  });

  test('returns no teams for a client that was deleted during the request', async () => {
    const { directory } = await openClients();
    expect(teamsThrough(user, findClient(directory, 'client_gone'))).toEqual({ teams: [], primaryTeam: '' });
  });
});
