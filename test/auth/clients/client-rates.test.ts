import { expect, test } from 'vitest';
import { ClientRates, holderKey, rateKey } from '../../../src/auth/oauth/clients.ts';
import { openSessionFixture, type SessionFixture } from '../session-fixture.ts';

const slowDown = {
  status: 429,
  headers: { 'retry-after': '1', 'cache-control': 'no-store' },
  json: { error: 'slow_down', error_description: expect.stringMatching(/too many requests/) },
};

/** Creates an API key, and functions that send its requests to each endpoint. */
async function openApiKey(fixture: SessionFixture) {
  const { post, dispatch: _, addClient } = fixture;
  const { apiKey, clientSecret } = await addClient('User');
  const credentials = { client_id: apiKey.clientId, client_secret: clientSecret };
  const mint = () =>
    post('/connect/token', { ...credentials, grant_type: 'client_credentials', scope: 'openid flagmeter' });
  const invalidate = (token: string) => post('/api/account/invalidate-token', {}, { authorization: `Bearer ${token}` });
  const ask = (path: string) => post(path, { ...credentials, token: 'x' });
  return { mint, invalidate, ask };
}

test('issuing, revoking and introspecting tokens share the rate limit of a client', async () => {
  const fixture = await openSessionFixture(2);
  const { mint, invalidate, ask } = await openApiKey(fixture);
  const token: string = (await mint()).json.access_token;
  expect(await ask('/connect/introspect')).toMatchObject({ status: 200 });
  expect(await ask('/connect/revocation')).toMatchObject({ status: 200 });
  expect(await invalidate(token)).toMatchObject({ status: 200 });
  const other: string = (await openApiKey(fixture).then((key) => key.mint())).json.access_token;
  expect(other).toBeDefined();
  for (const response of [mint(), ask('/connect/introspect'), ask('/connect/revocation')])
    expect(await response).toMatchObject(slowDown);
  fixture.clock.advance(500);
  expect(await mint()).toMatchObject({ status: 200 });
});

test('a token cannot be invalidated while the client exceeds the rate limit', async () => {
  const fixture = await openSessionFixture(1);
  const { mint, invalidate } = await openApiKey(fixture);
  const tokens: string[] = [(await mint()).json.access_token, (await mint()).json.access_token];
  expect(await invalidate(tokens[0]!)).toMatchObject(slowDown);
  expect(await fixture.call(tokens[0]!)).toBe(200);
  fixture.clock.advance(1000);
  expect(await invalidate(tokens[0]!)).toMatchObject({ status: 200 });
  expect(fixture.audited('token.invalidated')).toHaveLength(1);
});

test('requests of a public client are counted per network, because anyone can send its id', () => {
  const client = { id: 'c', kind: 'sign-in', client: { secretHash: null } } as Parameters<typeof rateKey>[0];
  const keys = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'].map((at) =>
    rateKey(client, { remoteAddress: at }),
  );
  expect(new Set(keys).size).toBe(3);
  expect(holderKey({ sub: 'c', client_id: 'c' })).toBe('c');
  expect(holderKey({ sub: 'u', client_id: 'c' })).not.toBe(holderKey({ sub: 'v', client_id: 'c' }));
});

test('a request rate of 0 means no limit', () => {
  const rates = new ClientRates(0);
  for (let request = 0; request < 1000; request += 1) rates.take('c', 0);
});
