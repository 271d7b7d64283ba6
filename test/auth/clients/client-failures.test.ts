import { describe, expect, test } from 'vitest';
import { ClientFailures } from '../../../src/auth/oauth/clients.ts';
import { openSessionFixture } from '../session-fixture.ts';

const grant = { grant_type: 'client_credentials', scope: 'openid flagmeter' };

/** Sends requests that fail. @returns the statuses */
async function fail(times: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < times; n += 1) statuses.push((await ask()).status);
  return statuses;
}

describe('a client that fails repeatedly', () => {
  test('a client that fails repeatedly must wait, unless it sends the right secret', async () => {
    const { post, addClient, clock } = await openSessionFixture();
    const { apiKey, clientSecret } = await addClient('User');
    const ask = (client_secret: string) =>
      post('/connect/token', { ...grant, client_id: apiKey.clientId, client_secret });
    expect(new Set(await fail(60, () => ask('wrong')))).toEqual(new Set([401]));
    expect(await ask('wrong')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1', 'cache-control': 'no-store' },
      json: { error: 'temporarily_unavailable' },
    });
    expect(await ask(clientSecret)).toMatchObject({ status: 200 });
    clock.advance(1000);
    expect(await ask('wrong')).toMatchObject({ status: 401 });
  });

  test('the failures of one client do not throttle another client', async () => {
    const { post, addClient } = await openSessionFixture();
    const { apiKey, clientSecret } = await addClient('User');
    const wrong = { ...grant, client_id: 'nobody', client_secret: 'wrong' };
    await fail(70, () => post('/connect/token', wrong));
    const right = { ...grant, client_id: apiKey.clientId, client_secret: clientSecret };
    expect(await post('/connect/token', right)).toMatchObject({ status: 200 });
  });

  test('every client endpoint also throttles a client whose id is in the Authorization header', async () => {
    const { post, addClient } = await openSessionFixture();
    const { clientId } = (await addClient('User')).apiKey;
    const authorization = `Basic ${Buffer.from(`${clientId}:wrong`).toString('base64')}`;
    const ask = (path: string) => post(path, { ...grant, token: 'x' }, { authorization });
    await fail(30, () => ask('/connect/introspect'));
    await fail(30, () => ask('/connect/revocation'));
    expect(await ask('/connect/token')).toMatchObject({ status: 429 });
  });

  test('a client can send any number of valid refresh tokens', async () => {
    const { tokens, refresh } = await openSessionFixture();
    let { refresh_token } = await tokens();
    for (let n = 0; n < 65; n += 1) {
      const { status, json } = await refresh(refresh_token);
      expect(status).toBe(200);
      refresh_token = json.refresh_token;
    }
  });

  test('guesses of codes or refresh tokens are throttled', async () => {
    const { exchange, refresh } = await openSessionFixture();
    await fail(30, () => exchange('unknown'));
    await fail(30, () => refresh('unknown'));
    expect(await exchange('unknown')).toMatchObject({ status: 429 });
  });
});

describe('ClientFailures', () => {
  test('throttles all clients of an address with too many failures, but not the clients of other addresses', () => {
    const failures = new ClientFailures();
    for (let n = 0; n < 600; n += 1) failures.note(`client-${n}`, '192.0.2.1', 0);
    expect(() => failures.note('another', '192.0.2.1', 0)).toThrow('Too many requests');
    failures.note('another', '192.0.2.2', 0);
    failures.note('another', '192.0.2.1', 100);
  });

  test('counts the failures of one IPv6 network together', () => {
    const failures = new ClientFailures();
    for (let n = 0; n < 60; n += 1) failures.note('client', `2001:db8::${n + 1}`, 0);
    expect(() => failures.note('client', '2001:db8::ffff', 0)).toThrow('Too many requests');
    failures.note('client', '2001:db8:0:1::1', 0);
  });
});
