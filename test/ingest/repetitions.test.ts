import { afterAll, describe, expect, test } from 'vitest';
import { cleanUp, createApplication, createKey, manage, token } from '../support/binary.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { encode } from '../support/report-messages.ts';
import { type LocalOptions, type LocalService, startLocal } from '../support/service.ts';
import { readChecks } from '../support/shop.ts';

afterAll(cleanUp);

const minute = 60_000;

interface Shop {
  readonly access: string;
  readonly application: string;
  readonly key: string;
}

async function openShop(service: LocalService, fields: object = {}): Promise<Shop> {
  const access = await token(service.http, service.credentials);
  const application = await createApplication(service.http, access, { name: 'shop', rate: 0, ...fields });
  const { key } = await createKey(service.http, access, application, 'Mobile');
  return { access, application, key };
}

async function post(service: LocalService, path: string, body: string, key?: string): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const answer = await fetch(`http://${service.http}${path}`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

/** No whole second. */
const time = new Date().toISOString().replace(/\.\d+/, '.125');

/** A report with one check, as JSON, with distinct content. */
function report(shop: Shop, more: object = {}): string {
  const stats = [{ feature: 'checkout', enabledCount: 1 }];
  return JSON.stringify({
    appKey: shop.key,
    environment: 'Production',
    time,
    instanceName: 'web',
    processStartTime: '2026-01-31T12:00:00Z',
    stats,
    ...more,
  });
}

const packet = (shop: Shop) =>
  JSON.stringify({ k: shop.key, e: 'Production', f: { checkout: { enabled: [1] } } });

async function checks(service: LocalService, { application }: Shop): Promise<number | undefined> {
  return (await readChecks(service.http, { ...service, application })).get('checkout');
}

async function withService(run: (service: LocalService) => Promise<void>, options: LocalOptions = {}) {
  const service = await startLocal(options);
  await run(service);
  await service.stop();
}

describe('a usage report', () => {
  test('counts once, however its JSON is ordered', () =>
    withService(async (service) => {
      const shop = await openShop(service);
      const stats = '"stats":[{"enabledCount":1,"feature":"checkout"}]';
      const head = `"processStartTime":"2026-01-31T12:00:00.0Z","instanceName":"web","time":"${time.replace('Z', '+00:00')}"`;
      const turned = `{${stats},${head},"environment":"Production","appKey":"${shop.key}"}`;
      for (const body of [report(shop), report(shop), turned]) {
        expect(await post(service, '/api/usage/stats', body)).toBe(200);
      }
      expect(await checks(service, shop)).toBe(1);
    }));

  test('counts again when any part of it differs', () =>
    withService(async (service) => {
      const shop = await openShop(service);
      const other = await createKey(service.http, shop.access, shop.application, 'Backend');
      const others = [
        {},
        { instanceName: 'api' },
        { processStartTime: time },
        { time: time.replace('.125', '.126') },
        { appKey: other.key },
      ];
      for (const more of others) await post(service, '/api/usage/stats', report(shop, more));
      expect(await checks(service, shop)).toBe(5);
    }));

  test.each([
    ['has its time in whole seconds', { time: time.replace('.125', '') }],
    ['does not say when its process started', { processStartTime: undefined }],
    ['says neither', { time: time.replace('.125', ''), processStartTime: undefined }],
  ])('that %s counts each time, for twenty processes of a host report alike', (_, fields) =>
    withService(async (service) => {
      const shop = await openShop(service);
      const alike = Array.from({ length: 20 }, () => report(shop, fields));
      const answers = await Promise.all(alike.map((body) => post(service, '/api/usage/stats', body)));
      expect(new Set(answers)).toEqual(new Set([200]));
      expect(await checks(service, shop)).toBe(20);
      for (const body of alike) await post(service, '/api/usage/stats', body, 'the same');
      expect(await checks(service, shop)).toBe(21);
    }),
  );

  test('counts once when it comes many times at once', () =>
    withService(async (service) => {
      const shop = await openShop(service);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => post(service, '/api/usage/stats', report(shop))),
      );
      expect(new Set(answers)).toEqual(new Set([200]));
      expect(await checks(service, shop)).toBe(1);
    }));

  test('counts in each environment and application that it is sent to', () =>
    withService(async (service) => {
      const [one, two] = [await openShop(service), await openShop(service)];
      for (const shop of [one, two]) {
        for (const environment of ['Production', 'Staging']) {
          expect(await post(service, '/api/usage/stats', report(shop, { environment }))).toBe(200);
        }
      }
      expect([await checks(service, one), await checks(service, two)]).toEqual([1, 1]);
    }));

  test('counts once across a restart, and again after ten minutes', async () => {
    let now = Date.now();
    const clock = { now: () => now, monotonic: () => performance.now() };
    const first = await startLocal({ clock });
    const shop = await openShop(first);
    expect(await post(first, '/api/usage/stats', report(shop))).toBe(200);
    await first.stop();
    await withService(
      async (again) => {
        now += 9 * minute;
        expect(await post(again, '/api/usage/stats', report(shop))).toBe(200);
        expect(await checks(again, shop)).toBe(1);
        now += 2 * minute;
        expect(await post(again, '/api/usage/stats', report(shop))).toBe(200);
        expect(await checks(again, shop)).toBe(2);
      },
      { clock, data: first.data, credentials: first.credentials },
    );
  });

  test('that was refused counts when it is sent again', () =>
    withService(async (service) => {
      const shop = await openShop(service, { rate: 1, burst: 1 });
      const path = `/api/v2/applications/${shop.application}`;
      const statuses = [await post(service, '/api/usage/stats', report(shop))];
      const second = report(shop, { instanceName: 'api' });
      statuses.push(await post(service, '/api/usage/stats', second));
      await manage(service.http, shop.access, 'PATCH', path, 200, { rate: 0 });
      statuses.push(await post(service, '/api/usage/stats', second));
      expect(statuses).toEqual([200, 429, 200]);
      expect(await checks(service, shop)).toBe(2);
    }));
});

describe('an Idempotency-Key', () => {
  test('names a report: the same key is a repetition, another key is another report', () =>
    withService(async (service) => {
      const shop = await openShop(service);
      for (const [key, more] of [
        ['a', {}],
        ['a', { instanceName: 'other' }],
        ['b', {}],
      ] as const) {
        expect(await post(service, '/api/usage/stats', report(shop, more), key)).toBe(200);
      }
      expect(await checks(service, shop)).toBe(2);
    }));

  test('is honoured for telemetry too, which otherwise counts every packet', () =>
    withService(async (service) => {
      const shop = await openShop(service);
      for (const key of ['a', 'a', 'b', undefined, undefined]) {
        expect(await post(service, '/api/frontend/telemetry', packet(shop), key)).toBe(202);
      }
      expect(await checks(service, shop)).toBe(4);
      expect(await post(service, '/api/frontend/telemetry', packet(shop), 'x'.repeat(256))).toBe(400);
    }));

  test('belongs to the application key that sends it', () =>
    withService(async (service) => {
      const shop = await openShop(service);
      const { access, application } = shop;
      const frontend = await createKey(service.http, access, application, 'Frontend');
      const backend = await createKey(service.http, access, application, 'Backend');
      const { http, grpc } = service;
      for (const { key } of [frontend, backend]) {
        const body = report({ ...shop, key });
        expect(await post(service, '/api/usage/stats', body, 'a')).toBe(200);
      }
      const message = encode('Usage.FeatureStat', JSON.parse(report({ ...shop, key: backend.key })));
      const client = openClient(grpc);
      for (const key of ['a', 'b', 'b']) {
        const options = { metadata: { 'idempotency-key': key } };
        expect(await call(client, '/Usage.Usage/SendStats', message, options)).toMatchObject({ code: 0 });
      }
      client.close();
      expect((await readChecks(http, { ...service, application })).get('checkout')).toBe(3);
    }));

  test('may be the same for different routes', () =>
    withService(async (service) => {
      const shop = await openShop(service);
      expect(await post(service, '/api/usage/stats', report(shop), 'a')).toBe(200);
      expect(
        await post(service, '/api/metrics', report(shop, { stats: [{ metric: 'm', value: 1 }] }), 'a'),
      ).toBe(200);
      expect(await post(service, '/api/frontend/telemetry', packet(shop), 'a')).toBe(202);
      expect(await checks(service, shop)).toBe(2);
      const path = `/api/v2/applications/${shop.application}/measurements?environment=Production`;
      expect(await manage(service.http, shop.access, 'GET', path, 200)).toMatchObject({
        metrics: [{ metric: 'm', sum: 1 }],
      });
    }));

  test('across a restart', async () => {
    const first = await startLocal();
    const shop = await openShop(first);
    expect(await post(first, '/api/frontend/telemetry', packet(shop), 'a')).toBe(202);
    await first.stop();
    await withService(
      async (again) => {
        expect(await post(again, '/api/frontend/telemetry', packet(shop), 'a')).toBe(202);
        expect(await checks(again, shop)).toBe(1);
      },
      { data: first.data, credentials: first.credentials },
    );
  });
});
