import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyClient } from '../../src/accounts/api-keys.ts';
import { showApiKey } from '../../src/management/api-keys.ts';
import { openUsersFixture } from './people.ts';

const dayMs = 24 * 3_600_000;

async function open() {
  const fixture = await openUsersFixture();
  return { ...fixture, path: `/teams/${fixture.team.id}/api-keys` };
}

describe('an API key', () => {
  test('a new API key is shown with its secret once, and has the role User by default', async () => {
    const { as, ada, path, team, clock, directory } = await open();
    const { status, json, headers, text } = await as(ada, 'POST', path, { name: 'CI' });
    expect(status).toBe(201);
    expect(json).toEqual({
      clientId: expect.stringMatching(/^client_/),
      clientSecret: expect.stringMatching(/^fm_secret_[0-9a-f]{64}$/),
      name: 'CI',
      role: 'User',
      scopes: ['write'],
      applications: null,
      teamId: team.id,
      credential: 'secret',
      publicKeys: [],
      expiresAt: null,
      lastUsedAt: null,
      lastSubject: null,
      previousSecretUntil: null,
      warnings: [],
      createdAt: new Date(clock.now()).toISOString(),
    });
    expect(headers).toMatchObject({ location: `/api/v2${path}/${json.clientId}`, 'cache-control': 'no-store' });
    expect(text).not.toContain('hash');
    expect(verifyClient(directory, json.clientId, json.clientSecret, clock.now())).toMatchObject({ role: 'User' });
    expect((await as(ada, 'POST', path, { name: 'CD', role: 'Admin' })).json.role).toBe('Admin');
  });

  test('API keys are listed without their secrets, in the order of creation and in pages', async () => {
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
    expect(seen[0]).not.toHaveProperty('clientSecret');
  });

  test('a deleted API key and its tokens are refused, even if the key deleted itself', async () => {
    const { call, path } = await open();
    const [own] = (await call('GET', path)).json.items;
    expect(await call('DELETE', `${path}/${own.clientId}`)).toMatchObject({ status: 204, text: '' });
    expect(await call('GET', path)).toMatchObject({ status: 401 });
  });

  test('an API key is not found in the path of another team', async () => {
    const { as, ada, path, addClient, otherTeamId, directory } = await open();
    const { apiKey } = await addClient('User', otherTeamId);
    expect(await as(ada, 'DELETE', `${path}/${apiKey.clientId}`)).toMatchObject({ status: 404 });
    expect(directory.apiKeys.has(apiKey.clientId)).toBe(true);
  });

  test('an API key that is deleted before the request body arrives cannot create another key', async () => {
    const { slowly, tokens, ada, as, path } = await open();
    const late = await slowly({ ...ada, token: tokens.admin }, 'POST', path, { name: 'x', role: 'Admin' });
    const [own] = (await as(ada, 'GET', path)).json.items;
    await as(ada, 'DELETE', `${path}/${own.clientId}`);
    late.arrive();
    expect(await late.response).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    });
    expect((await as(ada, 'GET', path)).json.items).toHaveLength(1);
  });

  test('creating an API key beyond the limit of the plan is refused', async () => {
    const { as, ada, path, team } = await open();
    await as(ada, 'PATCH', `/teams/${team.id}`, { plan: 'free' });
    expect(await as(ada, 'POST', path, { name: 'third' })).toMatchObject({ status: 201 });
    const refused = await as(ada, 'POST', path, { name: 'fourth' });
    expect(refused).toMatchObject({ status: 403, json: { code: 'plan_limit' } });
  });

  test('an expired API key and its tokens are refused until the expiry is extended', async () => {
    const { as, ada, call, path, clock, directory } = await open();
    const [own] = (await call('GET', path)).json.items;
    const at = (ms: number) => new Date(clock.now() + ms).toISOString();
    const change = (body: object) => as(ada, 'PATCH', `${path}/${own.clientId}`, body);
    expect((await change({ expiresAt: at(13.5 * dayMs) })).json.warnings).toEqual([
      { code: 'expiring', message: expect.stringContaining('within 14 days') },
    ]);
    expect((await change({ expiresAt: at(60_000) })).json).toMatchObject({ expiresAt: at(60_000) });
    clock.advance(59_999);
    expect(await call('GET', path)).toMatchObject({ status: 200 });
    clock.advance(1);
    expect(await call('GET', path)).toMatchObject({ status: 401 });
    const listed = (await as(ada, 'GET', path)).json.items[0];
    expect(listed).toMatchObject({ clientId: own.clientId, warnings: [{ code: 'expired' }] });
    expect((await change({ expiresAt: null })).json).toMatchObject({ expiresAt: null, warnings: [] });
    expect(await call('GET', path)).toMatchObject({ status: 200 });
    expect(directory.apiKeys.get(own.clientId)).not.toHaveProperty('expiresAt');
  });

  test.each(['2026-01-01T00:00:00Z', '2026-01-02T03:04:05Z'])(
    'an API key cannot expire at %s, which is in the past',
    async (expiresAt) => {
      const { as, ada, path } = await open();
      const refused = await as(ada, 'POST', path, { name: 'CI', expiresAt });
      expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_body' } });
    },
  );

  test('an API key is shown with its last use, which is stored with a precision of five minutes', async () => {
    const { call, as, ada, path, clock, directory } = await open();
    const first = clock.now();
    const [own] = (await call('GET', path)).json.items;
    expect(own.lastUsedAt).toBe(new Date(first).toISOString());
    const stored = () => directory.apiKeys.get(own.clientId)?.lastUsedAt;
    await directory.flush();
    expect(stored()).toBe(first);
    clock.advance(299_999);
    await call('GET', path);
    await directory.flush();
    expect(stored()).toBe(first);
    const [used, unused] = (await as(ada, 'GET', path)).json.items;
    expect(used.lastUsedAt).toBe(new Date(clock.now()).toISOString());
    expect(unused.lastUsedAt).toBeNull();
    clock.advance(1);
    await call('GET', path);
    await directory.flush();
    expect(stored()).toBe(clock.now());
  });

  test('the previous secret of an API key is accepted for a day after a rotation', async () => {
    const { as, ada, path, clock, directory } = await open();
    const made = (await as(ada, 'POST', path, { name: 'CI' })).json;
    const rotated = await as(ada, 'POST', `${path}/${made.clientId}/secret`);
    expect(rotated).toMatchObject({ status: 200, json: { clientSecret: expect.stringMatching(/^fm_secret_/) } });
    const until = clock.now() + dayMs;
    expect(rotated.json.previousSecretUntil).toBe(new Date(until).toISOString());
    const accepted = (secret: string) => verifyClient(directory, made.clientId, secret, clock.now()) !== undefined;
    const both = () => [made, rotated.json].map(({ clientSecret }) => accepted(clientSecret));
    expect(both()).toEqual([true, true]);
    clock.advance(dayMs);
    expect(both()).toEqual([false, true]);
    const stored = directory.apiKeys.get(made.clientId)!;
    expect(showApiKey(directory, stored)).toMatchObject({ previousSecretUntil: null });
  });

  test('an API key can have public keys in place of a secret, and the public keys can be replaced', async () => {
    const { as, ada, path, directory } = await open();
    const [first, second] = [1, 2].map(() => generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }));
    const made = await as(ada, 'POST', path, { name: 'CI', publicKeys: [{ ...first, kid: 'a' }] });
    expect(made).toMatchObject({
      status: 201,
      json: { credential: 'public-keys', publicKeys: [{ kid: 'a', alg: 'EdDSA' }] },
    });
    expect(made.json).not.toHaveProperty('clientSecret');
    const own = `${path}/${made.json.clientId}`;
    const changed = await as(ada, 'PATCH', own, { publicKeys: [second] });
    expect(changed.json.publicKeys).toEqual([{ kid: expect.stringMatching(/^[\w-]{43}$/), alg: 'EdDSA' }]);
    expect(directory.apiKeys.get(made.json.clientId)?.publicKeys?.[0]?.publicJwk).toEqual(second);
    expect(await as(ada, 'POST', `${own}/secret`)).toMatchObject({ status: 409 });
  });
});
