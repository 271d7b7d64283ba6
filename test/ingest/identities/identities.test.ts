import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/contract/errors.ts';
import { routesFrom } from '../../../src/http/endpoint.ts';
import { createRouter } from '../../../src/http/router.ts';
import { type IdentityDeps, mintEndpoints } from '../../../src/ingest/formats/identities/format.ts';
import { QueueMonitor } from '../../../src/storage/commit/queue-monitor.ts';
import type { StoreHealth } from '../../../src/storage/lmdb/store-health.ts';
import { testClock } from '../../accounts/fixture.ts';
import { send } from '../../auth/fixture.ts';
import { opened } from '../../support/opened.ts';
import { openPeople, type People } from '../../support/people.ts';

const second = 1000;

describe('POST /api/frontend/identities', () => {
  const people = opened(openPeople);

  const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`);
  const createClaims = (count: number) => Object.fromEntries(words(count).map((word) => [word, true]));

  test('returns the identity and an opaque instance id in a response that must not be cached', async () => {
    const response = await people.post({
      identity: 'ann',
      groups: ['beta'],
      claims: { plan: 'pro', seats: 3, vip: true },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = (await response.json()) as { instanceId: string };
    expect(body).toEqual({ identity: 'ann', instanceId: expect.stringMatching(/^fm_in_[0-9a-f]{72}$/) });
    expect(await people.mint('ann')).not.toBe(body.instanceId);
  });

  test.each<[string, unknown]>([
    ['an identity of 256 characters', { identity: '🙂'.repeat(256) }],
    ['the identity __proto__', { identity: '__proto__' }],
    ['100 groups and 50 claims', { identity: 'x', groups: words(100), claims: createClaims(50) }],
    ['claims of null', { identity: 'x', claims: { ...createClaims(50), a: null, b: null } }],
    ['a claim named __proto__', '{"identity":"x","claims":{"__proto__":1,"constructor":"c"}}'],
    ['unknown fields', { identity: 'x', more: [1] }],
  ])('accepts a mint request with %s', async (_, body) => {
    expect((await people.post(body)).status).toBe(200);
  });

  test.each<[string, unknown, string]>([
    ['no identity', {}, 'invalid_identity'],
    ['an empty identity', { identity: '' }, 'invalid_identity'],
    ['an identity that is not a string', { identity: 7 }, 'invalid_identity'],
    ['an identity of null', { identity: null }, 'invalid_identity'],
    ['an identity of 257 characters', { identity: 'x'.repeat(257) }, 'invalid_identity'],
    ['a control character in the identity', { identity: 'a\u0000' }, 'invalid_identity'],
    ['a C1 control character in the identity', { identity: 'a\u0085' }, 'invalid_identity'],
    ['half of a surrogate pair in the identity', '{"identity":"\\ud83d"}', 'invalid_identity'],
    ['101 groups', { identity: 'x', groups: words(101) }, 'invalid_body'],
    ['a group that is not a string', { identity: 'x', groups: [1] }, 'invalid_body'],
    ['groups of null', { identity: 'x', groups: null }, 'invalid_body'],
    ['51 claims', { identity: 'x', claims: createClaims(51) }, 'invalid_body'],
    ['a claim that is an object', { identity: 'x', claims: { a: {} } }, 'invalid_body'],
    ['a number that is not finite', '{"identity":"x","claims":{"a":1e400}}', 'invalid_body'],
    ['a body that is a list', [], 'invalid_body'],
    ['a body that is null', null, 'invalid_body'],
    ['malformed JSON', '{', 'invalid_json'],
    ['an empty body', '', 'invalid_json'],
  ])('refuses a mint request with %s', async (_, body, code) => {
    const response = await people.post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code });
  });

  test.each<[string, unknown, string]>([
    ['groups', null, 'groups must be an array of at most 100 strings; omit it if there are none'],
    ['groups', [1], 'groups must be an array of at most 100 strings'],
    ['claims', null, 'claims must be an object of at most 50 strings, numbers and booleans; omit it'],
    ['claims', { a: {} }, 'claims must be an object of at most 50 strings, numbers and booleans'],
  ])('the refusal of invalid %s (%j) states the valid form', async (field, value, detail) => {
    const response = await people.post({ identity: 'x', [field]: value });
    expect(await response.json()).toMatchObject({ code: 'invalid_body', detail: expect.stringContaining(detail) });
  });

  test.each<[string, (keys: People['keys']) => string]>([
    ['without a scheme', (keys) => keys.Backend],
    ['after Bearer', (keys) => `Bearer ${keys.Backend}`],
    ['after bearer', (keys) => `bearer ${keys.Backend}`],
    ['after BEARER and two spaces', (keys) => `BEARER  ${keys.Backend}`],
  ])('accepts a Backend key %s in Authorization', async (_, authorization) => {
    const response = await people.post({ identity: 'x' }, { authorization: authorization(people.keys) });
    expect(response.status).toBe(200);
  });

  test.each<[string, (keys: People['keys']) => string | undefined, number, string]>([
    ['no key', () => undefined, 401, 'unknown_backend_key'],
    ['an empty key', () => '', 401, 'unknown_backend_key'],
    ['a scheme without a key', () => 'Bearer', 401, 'unknown_backend_key'],
    ['an unknown key', () => `Bearer fm_be_${'0'.repeat(40)}`, 401, 'unknown_backend_key'],
    ['another scheme', (keys) => `Basic ${keys.Backend}`, 401, 'unknown_backend_key'],
    ['two keys', (keys) => `${keys.Backend}, ${keys.Backend}`, 401, 'unknown_backend_key'],
    ['a Frontend key', (keys) => keys.Frontend, 403, 'not_backend_key'],
    ['a Mobile key', (keys) => `Bearer ${keys.Mobile}`, 403, 'not_backend_key'],
  ])('refuses a request with %s, regardless of its body', async (_, authorization, status, code) => {
    const header = authorization(people.keys);
    for (const body of [{ identity: 'x' }, '{', 'x'.repeat(70_000)]) {
      const response = await people.post(body, header === undefined ? {} : { authorization: header });
      expect(response.status).toBe(status);
      expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
      expect(await response.json()).toMatchObject({ code });
    }
  });

  test('refuses a mint request whose body is too large before or after decompression', async () => {
    const body = JSON.stringify({ identity: 'x', more: 'y'.repeat(70_000) });
    expect((await people.post(body)).status).toBe(413);
    const packed = await fetch(`http://${people.service.http}/api/frontend/identities`, {
      method: 'POST',
      headers: { authorization: people.keys.Backend, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(body),
    });
    expect(packed.status).toBe(413);
  });

  test('refuses a mint request with an unsupported content type', async () => {
    const response = await people.post('{"identity":"x"}', {
      authorization: people.keys.Backend,
      'content-type': 'text/plain',
    });
    expect(await response.json()).toMatchObject({ status: 400, code: 'invalid_content_type' });
  });

  test('refuses a mint request with a revoked Backend key', async () => {
    const made = (await people.call('POST', '/keys', 201, { type: 'Backend' })) as { id: string; key: string };
    expect((await people.post({ identity: 'x' }, { authorization: made.key })).status).toBe(200);
    await people.call('DELETE', `/keys/${made.id}`, 204);
    expect((await people.post({ identity: 'x' }, { authorization: made.key })).status).toBe(401);
  });

  test('sends no CORS headers in any response, and refuses preflights', async () => {
    const origin = 'https://shop.example.com';
    const url = `http://${people.service.http}/api/frontend/identities`;
    const responses = [
      await people.post({ identity: 'x' }, { authorization: people.keys.Backend, origin }),
      await people.post({}, { authorization: people.keys.Backend, origin }),
      await people.post({}, { authorization: people.keys.Frontend, origin }),
      await people.post({}, { origin }),
      await fetch(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } }),
      await fetch(url, { headers: { origin } }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 400, 403, 401, 405, 405]);
    for (const { headers } of responses) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });
});

test.each<[string, Partial<IdentityDeps>, string]>([
  ['the store is unavailable', { health: { ready: false } as StoreHealth }, 'store_unavailable'],
  [
    'the spool is full',
    { usage: { refusal: () => new Refusal('spool_full', 'PostgreSQL accepts no data', 5) } },
    'spool_full',
  ],
  ['the queue is full', { monitor: fullMonitor() }, 'backpressure'],
])('a mint request is refused with 503 before any other check if %s', async (_, state, code) => {
  const services = {
    clock: testClock(),
    health: { ready: true } as StoreHealth,
    usage: { refusal: () => undefined },
    monitor: fullMonitor(),
    collect: () => {},
    keys: { findKey: () => undefined },
    ledger: { refusedUnread: () => {} },
    ...state,
  };
  const dispatch = createRouter(routesFrom([mintEndpoints(65_536)], services as unknown as IdentityDeps));
  const response = await send(dispatch, '/api/frontend/identities', { method: 'POST' });
  expect(response).toMatchObject({ status: 503, json: { code } });
  expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/);
});

function fullMonitor(): QueueMonitor {
  const mark = { high: 1, low: 0 };
  const monitor = new QueueMonitor({ packets: mark, bytes: mark, age: mark });
  monitor.join(monitor.open(0), 1, 1, { monotonic: () => 0 });
  return monitor;
}

test('a mint request over the rate limit gets Retry-After, and no id is minted', async () => {
  const people = await openPeople();
  await people.call('PATCH', '', 200, { rate: 1, burst: 1 });
  expect((await people.post({ identity: 'x' })).status).toBe(200);
  const refused = await people.post({ identity: 'x' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect((await people.post({})).status).toBe(400);
  people.clock.advance(second);
  expect((await people.post({ identity: 'x' })).status).toBe(200);
  await people.service.stop();
});

test('a request with an incomplete body mints no id, and the service continues to respond', async () => {
  const people = await openPeople();
  const [host, port] = people.service.http.split(':');
  await new Promise<void>((resolve) => {
    const outgoing = request({
      host,
      port,
      method: 'POST',
      path: '/api/frontend/identities',
      headers: { authorization: people.keys.Backend, 'content-type': 'application/json', 'content-length': '100' },
    });
    outgoing.once('error', () => resolve());
    outgoing.write('{"identity"', () => outgoing.destroy(new Error('gone')));
  });
  expect((await people.post({ identity: 'x' })).status).toBe(200);
  await people.service.stop();
});
