import { describe, expect, test } from 'vitest';
import { createClient } from '../../../src/accounts/clients.ts';
import { createTeam } from '../../../src/accounts/teams.ts';
import { createUser, deleteUser } from '../../../src/accounts/users.ts';
import { issueAccessToken } from '../../../src/auth/oauth/tokens.ts';
import { userinfoEndpoints } from '../../../src/auth/oauth/userinfo.ts';
import { createValidation } from '../../../src/auth/oauth/validation.ts';
import { createRouter } from '../../../src/http/router.ts';
import type { User } from '../../../src/storage/lmdb/records.ts';
import { bind } from '../bind.ts';
import { type JsonResponse, openAuthFixture, type RequestDeps, send } from '../fixture.ts';

async function openUserinfo() {
  const fixture = await openAuthFixture();
  const { settings, directory, team } = fixture;
  const redirectUris = ['https://app.example/callback'];
  const { client } = await createClient(directory, { teamId: team.id, name: 'App', redirectUris, confidential: false });
  const user = await createUser(directory, {
    email: 'ada@example.com',
    name: 'Ada',
    role: 'User',
    teams: [team.id],
    passwordHash: '',
  });
  const dispatch = createRouter(bind(userinfoEndpoints, { ...settings, validate: createValidation(settings) }));
  const issue = (scope: string, { id, role, teams, primaryTeam } = user, clientId = client.clientId) =>
    issueAccessToken(settings, { sub: id, client_id: clientId, scope, role, team: [...teams], primaryTeam });
  const ask = (options: RequestDeps = {}): Promise<JsonResponse> => send(dispatch, '/connect/userinfo', options);
  const askWith = (token: string) => ask({ headers: { authorization: `Bearer ${token}` } });
  return { ...fixture, user, issue, ask, askWith };
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' };

describe('the userinfo endpoint', () => {
  test.each<[string, (keyof User | 'email_verified' | 'team')[]]>([
    ['openid', []],
    ['openid email', ['email', 'email_verified']],
    ['openid flagmeter', ['name', 'role', 'team', 'primaryTeam']],
    ['openid email flagmeter', ['email', 'email_verified', 'name', 'role', 'team', 'primaryTeam']],
  ])('the userinfo endpoint returns only the claims of the scope %s', async (scope, names) => {
    const { askWith, issue, user } = await openUserinfo();
    const { status, headers, json } = await askWith(await issue(scope));
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(Object.keys(json)).toEqual(['sub', ...names]);
    const known = { ...user, sub: user.id, email_verified: false, team: user.teams };
    expect(known).toMatchObject(json);
  });

  test('the userinfo endpoint returns the current data of the user, not the data in the token', async () => {
    const { askWith, issue, user, directory } = await openUserinfo();
    const token = await issue('openid email');
    await directory.change((tx) => tx.put('users', user.id, { ...user, email: 'new@example.com' }));
    expect((await askWith(token)).json).toMatchObject({ email: 'new@example.com' });
  });

  test('the userinfo endpoint returns only the team of the client, not the other teams of the user', async () => {
    const { askWith, issue, user, directory, team } = await openUserinfo();
    const other = await createTeam(directory, 'Other');
    const teams = [other.id, team.id];
    const both = { ...user, teams, primaryTeam: other.id };
    await directory.change((tx) => tx.put('users', user.id, both));
    const { json } = await askWith(await issue('openid flagmeter', both));
    expect(json).toMatchObject({ team: [team.id], primaryTeam: team.id });
    const everybodys = await issue('openid flagmeter', both, 'flagmeter-cli');
    expect((await askWith(everybodys)).json).toMatchObject({ team: teams, primaryTeam: other.id });
  });

  test('the userinfo endpoint also accepts the token in a form', async () => {
    const { ask, issue, user } = await openUserinfo();
    const body = `access_token=${await issue('openid')}`;
    expect(await ask({ method: 'POST', headers: formType, body })).toMatchObject({
      status: 200,
      json: { sub: user.id },
    });
    const headers = { authorization: `Bearer ${await issue('openid')}` };
    expect(await ask({ method: 'POST', headers })).toMatchObject({ status: 200, json: { sub: user.id } });
    const both = await ask({ method: 'POST', headers: { ...formType, ...headers }, body });
    expect(both).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(both.headers['www-authenticate']).toMatch(/^Bearer error="invalid_request"/);
  });

  test.each<[string, RequestDeps]>([
    ['no token', {}],
    ['another scheme', { headers: { authorization: 'Basic YTpi' } }],
    ['an empty form', { method: 'POST', headers: formType }],
    ['a form that is sent with GET', { headers: formType, body: 'access_token=x' }],
    ['a token in a body that is not a form', { method: 'POST', body: 'access_token=x' }],
  ])('the userinfo endpoint sends a challenge without an error for a request with %s', async (_, options) => {
    const { ask } = await openUserinfo();
    const { status, headers, text } = await ask(options);
    expect({ status, text }).toEqual({ status: 401, text: '' });
    expect(headers).toMatchObject({ 'www-authenticate': 'Bearer', 'access-control-allow-origin': '*' });
  });

  test('the userinfo endpoint rejects an invalid token in the header and in the form', async () => {
    const { ask, askWith, issue, user, directory, clock } = await openUserinfo();
    const gone = await issue('openid');
    await deleteUser(directory, user.id);
    const old = await issue('openid');
    clock.advance(3_600_000);
    for (const token of ['x', 'a.b.c', gone, old]) {
      const forms = { method: 'POST', headers: formType, body: `access_token=${token}` };
      for (const response of [await askWith(token), await ask(forms)]) {
        expect(response).toMatchObject({ status: 401, json: { error: 'invalid_token' } });
        expect(response.headers['www-authenticate']).toMatch(
          /^Bearer error="invalid_token", error_description="[^"]+"$/,
        );
      }
    }
  });

  test.each(['flagmeter', 'email', 'flagmeter email', 'openid2 email'])(
    'the userinfo endpoint rejects a token without the scope openid: %s',
    async (scope) => {
      const { askWith, issue } = await openUserinfo();
      const response = await askWith(await issue(scope));
      expect(response).toMatchObject({ status: 403, json: { error: 'insufficient_scope' } });
      expect(response.headers['www-authenticate']).toMatch(/^Bearer error="insufficient_scope"/);
    },
  );

  test('the userinfo endpoint rejects a token of a client without a user', async () => {
    const { askWith, settings, addClient, team } = await openUserinfo();
    const { clientId } = (await addClient('Admin')).apiKey;
    const token = await issueAccessToken(settings, {
      sub: clientId,
      client_id: clientId,
      scope: 'openid flagmeter',
      role: 'Admin',
      team: [team.id],
      primaryTeam: team.id,
    });
    expect(await askWith(token)).toMatchObject({ status: 403, json: { error: 'insufficient_scope' } });
  });

  test('the userinfo endpoint allows web pages of any origin to send a token', async () => {
    const { ask } = await openUserinfo();
    const { status, headers } = await ask({ method: 'OPTIONS' });
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      'access-control-allow-headers': 'authorization, content-type',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });
});
