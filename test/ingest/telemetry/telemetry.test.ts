import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Owner,
  packetHandler,
  packetsHere,
  type TelemetryDeps,
} from '../../../src/ingest/formats/telemetry/telemetry.ts';
import { createApplication, createKey, manage, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { startLocal } from '../../support/service.ts';
import { readChecks } from '../../support/shop.ts';

const service = opened(startLocal);

async function createShop(http: string, access: string, fields: Record<string, unknown> = {}) {
  const id = await createApplication(http, access, { name: 'shop', ...fields });
  const makeKey = async (type: 'Frontend' | 'Mobile' | 'Backend') => createKey(http, access, id, type);
  return {
    id,
    frontend: await makeKey('Frontend'),
    mobile: await makeKey('Mobile'),
    backend: await makeKey('Backend'),
  };
}

interface SentPacket {
  readonly k: string;
  readonly e?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function send(http: string, { k, e = 'Production', headers = {}, body }: SentPacket): Promise<Response> {
  return fetch(`http://${http}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body ?? JSON.stringify({ k, e, f: { checkout: { on: [1] } } }),
  });
}

describe('CORS', () => {
  let open: Awaited<ReturnType<typeof createShop>>;
  let closed: Awaited<ReturnType<typeof createShop>>;
  beforeAll(async () => {
    const access = await token(service.http, service.credentials);
    open = await createShop(service.http, access);
    closed = await createShop(service.http, access, { allowedOrigins: ['https://app.example.com'], rate: 1, burst: 1 });
  });

  test('a preflight from any origin gets the allowed methods and headers', async () => {
    const response = await fetch(`http://${service.http}/api/frontend/telemetry`, {
      method: 'OPTIONS',
      headers: { origin: 'https://any.example.com', 'access-control-request-method': 'POST' },
    });
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': 'https://any.example.com',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'content-type, content-encoding',
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
  });

  const allowed = 'https://app.example.com';
  const other = 'https://evil.example.com';
  const cases = [
    { what: 'a 202', origin: allowed, readable: true, status: 202, sent: () => ({ k: open.frontend.key }) },
    { what: 'a 400', origin: other, readable: true, status: 400, sent: () => ({ k: closed.frontend.key, body: '{' }) },
    { what: 'the 404 of a key', origin: other, readable: true, status: 404, sent: () => ({ k: 'nobody' }) },
    {
      what: 'the 404 for an unknown environment of an application that allows this origin',
      origin: allowed,
      readable: true,
      status: 404,
      sent: () => ({ k: closed.frontend.key, e: 'Nowhere' }),
    },
    {
      what: 'the 404 for an unknown environment of an application that does not allow this origin',
      origin: other,
      readable: false,
      status: 404,
      sent: () => ({ k: closed.frontend.key, e: 'Nowhere' }),
    },
    { what: 'a 403', origin: other, readable: false, status: 403, sent: () => ({ k: closed.frontend.key }) },
    { what: 'a 413', origin: other, readable: true, status: 413, sent: () => ({ k: '', body: ' '.repeat(70_000) }) },
  ];

  test.each(cases)('a page of $origin may read $what: $readable', async ({ origin, readable, status, sent }) => {
    const response = await send(service.http, { ...sent(), headers: { origin } });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe(readable ? origin : null);
    if (readable) expect(response.headers.get('vary')).toBe('Origin');
    expect(response.headers.has('access-control-expose-headers')).toBe(false);
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
  });

  test('a packet with several origins is refused, and the response does not repeat them', async () => {
    const headers = { origin: `${allowed}, ${other}` };
    const refused = await send(service.http, { k: open.frontend.key, headers });
    expect(await refused.json()).toMatchObject({ status: 403, code: 'origin_not_allowed' });
    const url = `http://${service.http}/api/frontend/telemetry`;
    const preflight = await fetch(url, { method: 'OPTIONS', headers });
    const unknown = await send(service.http, { k: 'nobody', headers });
    expect([preflight.status, unknown.status]).toEqual([204, 404]);
    for (const response of [refused, preflight, unknown])
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('a page may read a 429 response with its Retry-After header', async () => {
    const sent = { k: closed.mobile.key, headers: { origin: allowed } };
    await send(service.http, sent);
    const response = await send(service.http, sent);
    expect(response.status).toBe(429);
    expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await response.json()).toMatchObject({ code: 'rate_limited' });
  });
});

describe('admission', () => {
  test('packets over the rate limit get 429 until new tokens are available', async () => {
    let monotonic = 0;
    const clock = { now: () => Date.now(), monotonic: () => monotonic };
    const service = await startLocal({ clock, args: ['--rate', '2', '--burst', '3'] });
    const access = await token(service.http, service.credentials);
    const { mobile } = await createShop(service.http, access);
    const statuses = async (count: number) => {
      const codes: number[] = [];
      for (let sent = 0; sent < count; sent += 1) codes.push((await send(service.http, { k: mobile.key })).status);
      return codes;
    };
    expect(await statuses(5)).toEqual([202, 202, 202, 429, 429]);
    monotonic += 1000;
    expect(await statuses(3)).toEqual([202, 202, 429]);
    await service.stop();
  });

  test('the rate of an application applies as soon as it is set', async () => {
    const service = await startLocal({ args: ['--rate', '0'] });
    const access = await token(service.http, service.credentials);
    const { id, mobile } = await createShop(service.http, access);
    expect((await send(service.http, { k: mobile.key })).status).toBe(202);
    await manage(service.http, access, 'PATCH', `/api/v2/applications/${id}`, 200, { rate: 1, burst: 1 });
    expect((await send(service.http, { k: mobile.key })).status).toBe(202);
    expect((await send(service.http, { k: mobile.key })).status).toBe(429);
    await service.stop();
  });

  test('packets over the queue limit get 503, and all other packets are counted', async () => {
    const args = ['--queue-high-packets', '2', '--queue-low-packets', '0', '--batch-packets', '1'];
    const service = await startLocal({ args });
    const access = await token(service.http, service.credentials);
    const { id, frontend } = await createShop(service.http, access);
    const headers = { origin: 'https://app.example.com' };
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => send(service.http, { k: frontend.key, headers })),
    );
    const accepted = responses.filter(({ status }) => status === 202);
    const refused = responses.filter(({ status }) => status === 503);
    expect(accepted.length + refused.length).toBe(60);
    expect(refused.length).toBeGreaterThan(0);
    for (const response of refused) {
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(response.headers.get('access-control-allow-origin')).toBe(headers.origin);
      expect(await response.json()).toMatchObject({ code: 'backpressure' });
    }
    const checks = await readChecks(service.http, { ...service, application: id });
    expect(checks.get('checkout')).toBe(accepted.length);
    await service.stop();
  });
});

describe('keys', () => {
  test('a Backend key in a packet gets 404 and is permanently marked as leaked', async () => {
    const access = await token(service.http, service.credentials);
    const { id, backend } = await createShop(service.http, access);
    const headers = { origin: 'https://app.example.com' };
    expect((await send(service.http, { k: backend.key, headers })).status).toBe(404);
    expect((await send(service.http, { k: backend.key, headers })).status).toBe(404);
    const keys = (await manage(service.http, access, 'GET', `/api/v2/applications/${id}/keys`, 200)) as {
      items: { id: string; warnings: { code: string }[] }[];
    };
    const listed = keys.items.find((key) => key.id === backend.id);
    expect(listed?.warnings.map(({ code }) => code)).toEqual(['leaked']);
    expect(service.log()).not.toContain(backend.key);
  });

  test('the first packet after the deletion of its key is refused', async () => {
    const access = await token(service.http, service.credentials);
    const { id, mobile } = await createShop(service.http, access);
    expect((await send(service.http, { k: mobile.key })).status).toBe(202);
    await manage(service.http, access, 'DELETE', `/api/v2/applications/${id}/keys/${mobile.id}`, 204);
    expect((await send(service.http, { k: mobile.key })).status).toBe(404);
  });
});

test('series over the limits are counted as __other__', async () => {
  const service = await startLocal({ args: ['--max-features', '2', '--max-metrics', '1'] });
  const access = await token(service.http, service.credentials);
  const { id, mobile } = await createShop(service.http, access);
  const f = { a: { on: [1] }, b: { on: [2] }, c: { on: [4] }, d: { on: [8], off: [16] } };
  const body = JSON.stringify({ k: mobile.key, e: 'Production', f, m: { x: 1, y: 2, z: 4 } });
  expect((await send(service.http, { k: mobile.key, body })).status).toBe(202);
  const checks = await readChecks(service.http, { ...service, application: id });
  expect(Object.fromEntries(checks)).toEqual({ a: 1, b: 2, __other__: 28 });
  const path = `/api/v2/applications/${id}/measurements?environment=Production`;
  const { metrics } = (await manage(service.http, access, 'GET', path, 200)) as {
    metrics: { metric: string; sum: number }[];
  };
  expect(metrics.map(({ metric, sum }) => [metric, sum])).toEqual([
    ['x', 1],
    ['__other__', 6],
  ]);
  await service.stop();
});

test('packets with a 202 response survive a restart', async () => {
  const service = await startLocal();
  const access = await token(service.http, service.credentials);
  const { id, mobile } = await createShop(service.http, access);
  await send(service.http, { k: mobile.key });
  await service.stop();
  // The second service runs on the store of the first service, without further setup.
  const again = await startLocal({ data: service.data, credentials: service.credentials });
  const checks = await readChecks(again.http, { ...again, application: id });
  expect(checks.get('checkout')).toBe(1);
  await again.stop();
});

test('a packet is checked against all changes made before its body has arrived', () => {
  let isRevoked = false;
  const owner: Owner = {
    catchUp: () => {
      isRevoked = true;
    },
    countsHere: () => true,
    forward: () => Promise.reject(new Error('not expected')),
  };
  const keys = { findKey: () => (isRevoked ? undefined : expect.fail('the key was looked up too early')) };
  const own = packetHandler({ keys, bodies: { free: 4096 } } as unknown as TelemetryDeps);
  const { check, resolve } = packetsHere(own, owner, 65_536, 4096);
  const request = { header: () => undefined } as unknown as Parameters<typeof resolve>[1];
  const packet = check(Buffer.from('{"k":"fm_fe_revoked","e":"Production","f":{}}'), request);
  expect(() => resolve(packet, request)).toThrow('not a Frontend or Mobile key');
});
