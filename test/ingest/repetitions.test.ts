import { describe, expect, test } from 'vitest';
import { createKey, manage } from '../support/binary.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { opened } from '../support/opened.ts';
import { encode } from '../support/report-messages.ts';
import { startLocal } from '../support/service.ts';
import { readChecks } from '../support/shop.ts';
import { checks, inMs, minute, notes, openShop, packet, post, report, time } from './repeated-reports.ts';

const service = opened(startLocal);

describe('POST /api/usage/stats', () => {
  test('counts a report once even if the order of its JSON fields differs', async () => {
    const shop = await openShop(service);
    const stats = '"stats":[{"enabledCount":1,"feature":"checkout"}]';
    const head = `"processStartTime":"2026-01-31T12:00:00.0Z","instanceName":"web","time":"${time.replace('Z', '+00:00')}"`;
    const reordered = `{${stats},${head},"environment":"Production","appKey":"${shop.key}"}`;
    for (const body of [report(shop), report(shop), reordered]) {
      expect(await post(service, '/api/usage/stats', body)).toBe(200);
    }
    expect(await checks(service, shop)).toBe(1);
  });

  test('counts a report again if any field differs', async () => {
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
  });

  test.each([
    ['milliseconds', inMs],
    ['milliseconds with trailing zeros', inMs.replace('Z', '0000Z')],
    ['whole seconds', time.replace('.125250', '')],
  ])(
    'counts each of twenty equal reports with a time in %s, because processes of a host can send equal reports',
    async (_, time) => {
      const shop = await openShop(service);
      const alike = Array.from({ length: 20 }, () => report(shop, { time, instanceName: undefined }));
      const statuses = await Promise.all(alike.map((body) => post(service, '/api/usage/stats', body)));
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(await checks(service, shop)).toBe(20);
      await expect.poll(() => notes(service, shop)).toEqual({ possible_repeat: 19 });
      for (const body of alike) await post(service, '/api/usage/stats', body, 'the same');
      expect(await checks(service, shop)).toBe(21);
      await expect.poll(() => notes(service, shop)).toEqual({ possible_repeat: 19, repeated: 19 });
    },
  );

  test('counts a repeated report without a process start time once', async () => {
    const shop = await openShop(service);
    const body = report(shop, { processStartTime: undefined });
    for (const _ of [1, 2]) expect(await post(service, '/api/usage/stats', body)).toBe(200);
    expect(await checks(service, shop)).toBe(1);
    await expect.poll(() => notes(service, shop)).toEqual({ repeated: 1 });
  });

  test('counts a report once if it is sent many times concurrently', async () => {
    const shop = await openShop(service);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => post(service, '/api/usage/stats', report(shop))),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await checks(service, shop)).toBe(1);
  });

  test('counts equal reports in each environment and application to which they are sent', async () => {
    const one = await openShop(service);
    const two = await openShop(service);
    for (const shop of [one, two]) {
      for (const environment of ['Production', 'Staging']) {
        expect(await post(service, '/api/usage/stats', report(shop, { environment }))).toBe(200);
      }
    }
    expect([await checks(service, one), await checks(service, two)]).toEqual([1, 1]);
  });

  test('counts a report once across a restart, and once more after ten minutes', async () => {
    let now = Date.now();
    const clock = { now: () => now, monotonic: () => performance.now() };
    const first = await startLocal({ clock });
    const shop = await openShop(first);
    expect(await post(first, '/api/usage/stats', report(shop))).toBe(200);
    await first.stop();
    const again = await startLocal({ clock, data: first.data, credentials: first.credentials });
    now += 9 * minute;
    expect(await post(again, '/api/usage/stats', report(shop))).toBe(200);
    expect(await checks(again, shop)).toBe(1);
    now += 2 * minute;
    expect(await post(again, '/api/usage/stats', report(shop))).toBe(200);
    expect(await checks(again, shop)).toBe(2);
  });

  test('counts a refused report when the sender retries it', async () => {
    const shop = await openShop(service, { rate: 1, burst: 1 });
    const path = `/api/v2/applications/${shop.application}`;
    const statuses = [await post(service, '/api/usage/stats', report(shop))];
    const second = report(shop, { instanceName: 'api' });
    statuses.push(await post(service, '/api/usage/stats', second));
    await manage(service.http, shop.access, 'PATCH', path, 200, { rate: 0 });
    statuses.push(await post(service, '/api/usage/stats', second));
    expect(statuses).toEqual([200, 429, 200]);
    expect(await checks(service, shop)).toBe(2);
  });
});

describe('Idempotency-Key', () => {
  test('a report with the same Idempotency-Key is a repetition, and a report with another key is not', async () => {
    const shop = await openShop(service);
    for (const [key, more] of [
      ['a', {}],
      ['a', { instanceName: 'other' }],
      ['b', {}],
    ] as const) {
      expect(await post(service, '/api/usage/stats', report(shop, more), key)).toBe(200);
    }
    expect(await checks(service, shop)).toBe(2);
  });

  test('a packet with a repeated Idempotency-Key counts once, and packets without an Idempotency-Key all count', async () => {
    const shop = await openShop(service);
    for (const key of ['a', 'a', 'b', undefined, undefined]) {
      expect(await post(service, '/api/frontend/telemetry', packet(shop), key)).toBe(202);
    }
    expect(await checks(service, shop)).toBe(4);
    expect(await post(service, '/api/frontend/telemetry', packet(shop), 'x'.repeat(256))).toBe(400);
  });

  test('the same Idempotency-Key sent with two application keys identifies two reports', async () => {
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
  });

  test('the same Idempotency-Key sent to two routes identifies two messages', async () => {
    const shop = await openShop(service);
    expect(await post(service, '/api/usage/stats', report(shop), 'a')).toBe(200);
    expect(await post(service, '/api/metrics', report(shop, { stats: [{ metric: 'm', value: 1 }] }), 'a')).toBe(200);
    expect(await post(service, '/api/frontend/telemetry', packet(shop), 'a')).toBe(202);
    expect(await checks(service, shop)).toBe(2);
    const path = `/api/v2/applications/${shop.application}/measurements?environment=Production`;
    expect(await manage(service.http, shop.access, 'GET', path, 200)).toMatchObject({
      metrics: [{ metric: 'm', sum: 1 }],
    });
  });

  test('an Idempotency-Key identifies a repetition across a restart', async () => {
    const first = await startLocal();
    const shop = await openShop(first);
    expect(await post(first, '/api/frontend/telemetry', packet(shop), 'a')).toBe(202);
    await first.stop();
    const again = await startLocal({ data: first.data, credentials: first.credentials });
    expect(await post(again, '/api/frontend/telemetry', packet(shop), 'a')).toBe(202);
    expect(await checks(again, shop)).toBe(1);
  });
});
