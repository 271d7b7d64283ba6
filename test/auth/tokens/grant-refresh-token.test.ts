import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { deleteClient } from '../../../src/accounts/clients.ts';
import { putMember } from '../../../src/accounts/members.ts';
import { createTeam } from '../../../src/accounts/teams.ts';
import { patchUser } from '../../accounts/fixture.ts';
import { allScopes, openSessionFixture, type SessionFixture } from '../session-fixture.ts';

const dayMs = 24 * 3_600_000;
const refused = {
  status: 400,
  json: { error: 'invalid_grant', error_description: 'The refresh token is not valid' },
  headers: { 'cache-control': 'no-store' },
};

describe('a refresh', () => {
  test('a refresh returns new tokens, and the old access token is rejected from the next request on', async () => {
    const { tokens, refresh, call } = await openSessionFixture();
    const old = await tokens();
    expect(await call(old.access_token)).toBe(200);
    const response = await refresh(old.refresh_token);
    expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(response.json).toMatchObject({ expires_in: 3600, token_type: 'Bearer', scope: allScopes });
    expect(await call(old.access_token)).toBe(401);
    expect(await call(response.json.access_token)).toBe(200);
    expect(response.json.refresh_token).not.toBe(old.refresh_token);
  });

  test('a refresh keeps the session and the sign-in time, and omits the nonce', async () => {
    const { tokens, refresh, clock } = await openSessionFixture();
    const old = await tokens({ nonce: 'once' });
    clock.advance(1000);
    const { json } = await refresh(old.refresh_token);
    const { nonce, iat, exp, ...kept } = decodeJwt(old.id_token);
    expect(decodeJwt(json.id_token)).toEqual({ ...kept, iat: Number(iat) + 1, exp: Number(exp) + 1 });
    expect(decodeJwt(json.access_token)['sid']).toBe(decodeJwt(old.access_token)['sid']);
  });

  test('a refresh works after a restart', async () => {
    const before = await openSessionFixture();
    const old = await before.tokens();
    const { json } = await before.refresh(old.refresh_token);
    const { refresh, call } = await before.restart();
    expect(await call(old.access_token)).toBe(401);
    expect(await call(json.access_token)).toBe(200);
    expect(await refresh(json.refresh_token)).toMatchObject({ status: 200 });
  });

  test('a refresh returns the current data of the user', async () => {
    const { tokens, refresh, directory, user } = await openSessionFixture();
    const old = await tokens();
    await patchUser(directory, user.id, { name: 'Ada L.', email: 'lovelace@example.com' });
    const { json } = await refresh(old.refresh_token);
    expect(decodeJwt(json.access_token)).toMatchObject({ name: 'Ada L.', email: 'lovelace@example.com' });
  });

  test('a refreshed token contains only the team of the client, not the other teams of the user', async () => {
    const { tokens, refresh, directory, user, team } = await openSessionFixture();
    const { refresh_token } = await tokens();
    const second = await createTeam(directory, 'Second');
    await putMember(directory, second.id, user.id);
    await patchUser(directory, user.id, { primaryTeam: second.id });
    const { json } = await refresh(refresh_token);
    expect(decodeJwt(json.access_token)).toMatchObject({ team: [team.id], primaryTeam: team.id });
  });

  test('a refresh token expires after 30 days without use, and at the latest 90 days after the sign-in', async () => {
    const { tokens, refresh, clock } = await openSessionFixture();
    let { refresh_token: token } = await tokens();
    for (let days = 0; days < 87; days += 29) {
      clock.advance(29 * dayMs);
      const response = await refresh(token);
      expect(response, `day ${days + 29}`).toMatchObject({ status: 200 });
      token = response.json.refresh_token;
    }
    clock.advance(3 * dayMs);
    expect(await refresh(token)).toMatchObject(refused);
  });

  test.each([
    [30 * dayMs - 1, 200],
    [30 * dayMs, 400],
  ])('a refresh token that was unused for %i ms gets the status %i', async (ms, status) => {
    const { tokens, refresh, clock } = await openSessionFixture();
    const { refresh_token } = await tokens();
    clock.advance(ms);
    expect(await refresh(refresh_token)).toMatchObject({ status });
  });
});

describe('a reused refresh token', () => {
  test('the reuse of a refresh token ends the session and its current tokens', async () => {
    const { tokens, refresh, call, audited, user } = await openSessionFixture();
    const old = await tokens();
    const { json: current } = await refresh(old.refresh_token);
    expect(await call(current.access_token)).toBe(200);
    expect(await refresh(old.refresh_token)).toMatchObject(refused);
    expect(await call(current.access_token)).toBe(401);
    expect(await refresh(current.refresh_token)).toMatchObject(refused);
    expect(audited('refresh-token.reused')).toMatchObject([{ target: { type: 'user', id: user.id } }]);
  });

  test('the reuse of a refresh token after a restart ends the session permanently', async () => {
    const first = await openSessionFixture();
    const old = await first.tokens();
    const { json: current } = await first.refresh(old.refresh_token);
    const second = await first.restart();
    expect(await second.refresh(old.refresh_token)).toMatchObject(refused);
    const third = await second.restart();
    expect(await third.call(current.access_token)).toBe(401);
    expect(await third.refresh(current.refresh_token)).toMatchObject(refused);
  });

  test('a refresh token with the right session id but a wrong secret also ends the session', async () => {
    const { tokens, refresh, call } = await openSessionFixture();
    const { refresh_token: text, access_token } = await tokens();
    expect(await refresh(`${text.slice(0, -43)}${'A'.repeat(43)}`)).toMatchObject(refused);
    expect(await call(access_token)).toBe(401);
    expect(await refresh(text)).toMatchObject(refused);
  });

  test('the reuse of a refresh token does not end other sessions of the user', async () => {
    const { tokens, refresh, call } = await openSessionFixture();
    const old = await tokens();
    const other = await tokens();
    await refresh(old.refresh_token);
    await refresh(old.refresh_token);
    expect(await call(other.access_token)).toBe(200);
    expect(await refresh(other.refresh_token)).toMatchObject({ status: 200 });
  });
});

test('exactly one of several concurrent refreshes succeeds', async () => {
  const { tokens, refresh } = await openSessionFixture();
  const { refresh_token } = await tokens();
  const responses = await Promise.all(Array.from({ length: 5 }, () => refresh(refresh_token)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
});

describe('the scope of a refresh', () => {
  test('a refresh can request a part of the scope, and the next refresh can request the full scope', async () => {
    const { tokens, refresh, call } = await openSessionFixture();
    const old = await tokens();
    const { json: less } = await refresh(old.refresh_token, { scope: 'flagmeter' });
    expect(less).toMatchObject({ scope: 'flagmeter' });
    expect(less).not.toHaveProperty('id_token');
    expect(await call(less.access_token)).toBe(200);
    const { json: least } = await refresh(less.refresh_token, { scope: 'openid' });
    expect(await call(least.access_token)).toBe(401);
    expect((await refresh(least.refresh_token)).json).toMatchObject({ scope: allScopes });
  });

  test.each(['openid email flagmeter more', 'admin', ' '])(
    'a refresh with the scope %j is refused, and the refresh token remains usable',
    async (scope) => {
      const { tokens, refresh, call } = await openSessionFixture();
      const { refresh_token, access_token } = await tokens();
      expect(await refresh(refresh_token, { scope })).toMatchObject({ status: 400, json: { error: 'invalid_scope' } });
      expect(await call(access_token)).toBe(200);
      expect(await refresh(refresh_token)).toMatchObject({ status: 200 });
    },
  );
});

describe('a refresh token that cannot be used', () => {
  test.each(['unknown', 'fm_refresh_', `fm_refresh_${'A'.repeat(22)}.${'A'.repeat(43)}`, 'a.b.c'])(
    'the unknown refresh token %j is refused',
    async (text) => {
      const { refresh } = await openSessionFixture();
      expect(await refresh(text)).toMatchObject(refused);
    },
  );

  test('a refresh by another client is refused, and the session remains valid', async () => {
    const { tokens, refresh, credentials, app } = await openSessionFixture();
    const { refresh_token } = await tokens();
    expect(await refresh(refresh_token, { client_secret: '', ...credentials(app) })).toMatchObject(refused);
    expect(await refresh(refresh_token)).toMatchObject({ status: 200 });
  });

  test('a refresh without a refresh token is refused', async () => {
    const { refresh } = await openSessionFixture();
    expect(await refresh('')).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
  });

  test.each<[string, (fixture: SessionFixture) => Promise<unknown>, number]>([
    ['its user was deleted', ({ directory, user }) => directory.change((tx) => tx.remove('users', user.id)), 400],
    [
      'its user has left the team of the client',
      async ({ directory, user }) => {
        const { id } = await createTeam(directory, 'Other');
        await directory.change((tx) => tx.put('users', user.id, { ...user, teams: [id], primaryTeam: id }));
      },
      400,
    ],
    [
      'its client was deleted',
      ({ directory, team, shop }) => deleteClient(directory, team.id, shop.client.clientId),
      401,
    ],
  ])('the refresh token and the access token are refused if %s', async (_, change, status) => {
    const fixture = await openSessionFixture();
    const { refresh_token, access_token } = await fixture.tokens();
    expect(await fixture.call(access_token)).toBe(200);
    await change(fixture);
    expect(await fixture.call(access_token)).toBe(401);
    expect(await fixture.refresh(refresh_token)).toMatchObject({ status });
  });

  test('a refresh is refused while the store accepts no writes, and the token remains valid', async () => {
    const { tokens, refresh, health } = await openSessionFixture();
    const { refresh_token } = await tokens();
    health.ready = false;
    expect(await refresh(refresh_token)).toMatchObject({ status: 503 });
    health.ready = true;
    expect(await refresh(refresh_token)).toMatchObject({ status: 200 });
  });
});
