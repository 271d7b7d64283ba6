import { describe, expect, test } from 'vitest';
import type { KeyHolder } from '../../src/accounts/key-index.ts';
import { openManageFixture } from './fixture.ts';

async function open() {
  const fixture = await openManageFixture();
  return { ...fixture, path: `/applications/${fixture.application.id}/keys` };
}

describe.each(['Frontend', 'Mobile', 'Backend'] as const)('a %s key', (type) => {
  test('a new application key is returned with its text, and is valid immediately', async () => {
    const { call, path, clock, directory } = await open();
    const { status, json, headers } = await call('POST', path, { type, name: 'Web' });
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^key_/),
      type,
      name: 'Web',
      key: expect.stringMatching(/^fm_(fe|mo|be)_[0-9a-f]{40}$/),
      createdAt: new Date(clock.now()).toISOString(),
    });
    expect(headers).toMatchObject({ location: `/api/v2${path}/${json.id}`, 'cache-control': 'no-store' });
    expect(directory.findKey(json.key)?.key.id).toBe(json.id);
  });

  test('an application key is listed with its text only if the key is not secret', async () => {
    const { call, path, clock } = await open();
    const made = (await call('POST', path, { type })).json;
    const list = await call('GET', path);
    expect(list.json).toEqual({
      items: [
        {
          id: made.id,
          type,
          name: type,
          prefix: made.key.slice(0, 12),
          ...(type === 'Backend' ? {} : { key: made.key }),
          createdAt: new Date(clock.now()).toISOString(),
          expiresAt: null,
          lastUsedAt: null,
          refused: { count: 0, lastAt: null, reasons: [] },
          warnings: [],
        },
      ],
      nextCursor: null,
    });
    expect(list.text.includes(made.key)).toBe(type !== 'Backend');
  });

  test('an application key is invalid after its deletion', async () => {
    const { call, path, directory } = await open();
    const made = (await call('POST', path, { type })).json;
    expect((await call('DELETE', `${path}/${made.id}`)).status).toBe(204);
    expect(directory.findKey(made.key)).toBeUndefined();
    expect((await call('DELETE', `${path}/${made.id}`)).status).toBe(404);
  });
});

test('a key with the name of another key of the application is refused', async () => {
  const { call, path } = await open();
  await call('POST', path, { type: 'Frontend', name: 'Web' });
  const second = await call('POST', path, { type: 'Mobile', name: 'Web' });
  expect(second).toMatchObject({ status: 409, json: { code: 'conflict' } });
  const token = { token: `default:production.${'a1b2'.repeat(8)}`, type: 'Backend', environment: 'Production' };
  expect((await call('POST', `${path}/adopt`, { ...token, name: 'Web' })).status).toBe(409);
  expect((await call('GET', path)).json.items).toHaveLength(1);
});

test('the default name of a key gets a number if the name is taken', async () => {
  const { call, path } = await open();
  const names = [];
  for (let made = 0; made < 3; made += 1) names.push((await call('POST', path, { type: 'Backend' })).json.name);
  expect(names).toEqual(['Backend', 'Backend 2', 'Backend 3']);
});

test('a rotated key and its successor have the same name, and both can be deleted', async () => {
  const { call, path } = await open();
  const { id } = (await call('POST', path, { type: 'Mobile', name: 'App' })).json;
  const successor = (await call('POST', `${path}/${id}/rotate`)).json;
  expect(successor.name).toBe('App');
  for (const each of [id, successor.id]) expect((await call('DELETE', `${path}/${each}`)).status).toBe(204);
  expect((await call('POST', path, { type: 'Mobile', name: 'App' })).status).toBe(201);
});

test('an application key is listed with the times of its last use and of its leak', async () => {
  const { call, path, clock, directory } = await open();
  const { key } = (await call('POST', path, { type: 'Backend' })).json;
  clock.advance(60_000);
  directory.recordUse(directory.findKey(key) as KeyHolder);
  directory.recordLeak(directory.findKey(key) as KeyHolder);
  await directory.flush();
  const at = new Date(clock.now()).toISOString();
  const [shown] = (await call('GET', path)).json.items;
  expect(shown).toMatchObject({ lastUsedAt: at, warnings: [{ code: 'leaked', message: expect.any(String), at }] });
});

test('an application key is listed with the number of its refused messages, and the numbers by reason', async () => {
  const { call, path, clock, directory } = await open();
  const { key } = (await call('POST', path, { type: 'Frontend' })).json;
  const holder = directory.findKey(key) as KeyHolder;
  directory.recordRefusal(holder, 'unknown_environment');
  await directory.flush();
  clock.advance(60_000);
  for (let times = 0; times < 2; times += 1) directory.recordRefusal(holder, 'origin_not_allowed');
  const refused = {
    count: 3,
    lastAt: new Date(clock.now()).toISOString(),
    reasons: [
      { code: 'origin_not_allowed', count: 2 },
      { code: 'unknown_environment', count: 1 },
    ],
  };
  expect((await call('GET', path)).json.items).toMatchObject([{ lastUsedAt: null, refused }]);
});

test('a revoked application key is still listed, without its text', async () => {
  const { call, path, clock, directory } = await open();
  const made = (await call('POST', path, { type: 'Frontend', name: 'Old shop' })).json;
  directory.recordRefusal(directory.findKey(made.key) as KeyHolder, 'origin_not_allowed');
  await directory.flush();
  expect((await call('GET', `${path}?revoked=true`)).json.items).toEqual([]);
  await call('DELETE', `${path}/${made.id}`);
  const { json, text } = await call('GET', `${path}?revoked=true`);
  const at = new Date(clock.now()).toISOString();
  const { id, type, name, createdAt } = made;
  expect(json.items).toEqual([
    {
      id,
      type,
      name,
      createdAt,
      prefix: made.key.slice(0, 12),
      expiresAt: null,
      lastUsedAt: null,
      warnings: [],
      refused: { count: 1, lastAt: at, reasons: [{ code: 'origin_not_allowed', count: 1 }] },
      revokedAt: at,
    },
  ]);
  expect(text).not.toContain(made.key);
  for (let times = 0; times < 21; times += 1) {
    const { id } = (await call('POST', path, { type: 'Mobile', name: `${times}` })).json;
    await call('DELETE', `${path}/${id}`);
  }
  const names = (await call('GET', `${path}?revoked=true`)).json.items.map((key: { name: string }) => key.name);
  expect(names).toEqual(Array.from({ length: 20 }, (_, index) => `${index + 1}`));
});

test('an application key cannot be deleted in the path of another application', async () => {
  const { call, path, directory } = await open();
  const made = (await call('POST', path, { type: 'Mobile' })).json;
  const other = (await call('POST', '/applications', { name: 'Other' })).json;
  expect((await call('DELETE', `/applications/${other.id}/keys/${made.id}`)).status).toBe(404);
  expect(directory.findKey(made.key)).toBeDefined();
});

test.each<[unknown, string, string]>([
  [{ type: 'frontend' }, 'invalid_body', 'Field type must be "Frontend" or must be "Mobile" or must be "Backend"'],
])('creating the application key %j is refused', async (body, code, detail) => {
  const { call, path } = await open();
  const response = await call('POST', path, body);
  expect(response).toMatchObject({ status: 400, json: { code } });
  expect(response.json.detail).toContain(detail);
});

test('application keys that were created in the same millisecond are listed in order and in pages', async () => {
  const { call, path } = await open();
  const made: string[] = [];
  for (let at = 0; at < 5; at++) made.push((await call('POST', path, { type: 'Mobile' })).json.id);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { json } = await call('GET', `${path}?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...json.items.map(({ id }: { id: string }) => id));
    cursor = json.nextCursor;
  }
  expect(seen).toEqual(made);
});

describe('an adopted token', () => {
  const token = `default:production.${'a'.repeat(56)}`;
  const wanted = { token, type: 'Frontend', environment: 'Production', name: 'Unleash' };

  test('an adopted token is valid immediately, and only its hash is stored', async () => {
    const { call, path, directory, clock } = await open();
    const made = await call('POST', `${path}/adopt`, wanted);
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      id: expect.stringMatching(/^key_/),
      refused: { count: 0, lastAt: null, reasons: [] },
      type: 'Frontend',
      name: 'Unleash',
      environment: 'Production',
      prefix: 'default:production.aaaa',
      createdAt: new Date(clock.now()).toISOString(),
      expiresAt: null,
      lastUsedAt: null,
      warnings: [],
    });
    expect((await call('GET', path)).json.items).toEqual([made.json]);
    expect(directory.findKey(token)?.key).toMatchObject({ id: made.json.id, text: null });
  });

  test('the default name of an adopted token differs from the default name of a created key', async () => {
    const { call, path } = await open();
    const { name: _, ...unnamed } = wanted;
    expect((await call('POST', `${path}/adopt`, unnamed)).json.name).toBe('Adopted Frontend');
  });

  test.each([
    ['has 31 random characters', 'Backend', '0f1e2d3c4b5a69788796a5b4c3d2e1f', ['weak']],
    ['has 32 random characters', 'Backend', '0f1e2d3c4b5a69788796a5b4c3d2e1f0', []],
    ['repeats two characters', 'Backend', 'a1'.repeat(20), ['weak']],
    ['consists of words', 'Backend', 'unleash-insecure-client-api-token-of-the-shop', ['weak']],
    ['is public anyway', 'Frontend', 'unleash-insecure-frontend-api-token', []],
  ])('an adopted token is shown with a warning if it is weak: the token %s', async (_, type, secret, codes) => {
    const { call, path, clock } = await open();
    const adopted = await call('POST', `${path}/adopt`, { ...wanted, type, token: `default:production.${secret}` });
    const at = new Date(clock.now()).toISOString();
    const warnings = codes.map((code) => ({ code, at, message: expect.stringMatching(/guessed/) }));
    expect(adopted.json.warnings).toEqual(warnings);
    expect((await call('GET', path)).json.items).toMatchObject([{ warnings }]);
    await call('DELETE', `${path}/${adopted.json.id}`);
    expect((await call('GET', `${path}?revoked=true`)).json.items).toMatchObject([{ warnings }]);
  });

  test.each([
    ['another application has adopted the token', { ...wanted }, 409, 'conflict'],
    ['the token has a space', { ...wanted, token: 'a b' }, 400, 'invalid_body'],
    ['the token is a key of this service', { ...wanted, token: `fm_be_${'0'.repeat(40)}` }, 400, 'invalid_body'],
    ['the token is a client secret', { ...wanted, token: `fm_secret_${'0'.repeat(64)}` }, 400, 'invalid_body'],
    ['the token is too long', { ...wanted, token: 'a'.repeat(513) }, 400, 'invalid_body'],
    [
      'the secret part has fewer than 16 characters',
      { ...wanted, type: 'Backend', token: `default:production.${'a1'.repeat(7)}b` },
      400,
      'invalid_body',
    ],
    [
      'the environment does not exist',
      { ...wanted, token: 'b'.repeat(16), environment: 'production' },
      404,
      'unknown_environment',
    ],
  ])('adopting a token is refused if %s', async (_, body, status, code) => {
    const { call, path } = await open();
    const other = (await call('POST', '/applications', { name: 'Other' })).json;
    await call('POST', `/applications/${other.id}/keys/adopt`, wanted);
    expect(await call('POST', `${path}/adopt`, body)).toMatchObject({ status, json: { code } });
  });
});
