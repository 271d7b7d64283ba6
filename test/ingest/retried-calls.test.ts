import { describe, expect, test } from 'vitest';
import { manage } from '../support/binary.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { callByWeb } from '../support/grpc-web-client.ts';
import { opened } from '../support/opened.ts';
import { encode, parseMessage, registry } from '../support/report-messages.ts';
import { type LocalService, startLocal } from '../support/service.ts';
import { checks, inMs, notes, openShop, post, report } from './repeated-reports.ts';

const service = opened(startLocal);

describe('call marked as a retry', () => {
  const retry = (attempts: string) => ({ 'grpc-previous-rpc-attempts': attempts });

  test('a report with a time in milliseconds is a repetition only if its call is marked as a retry', async () => {
    const shop = await openShop(service);
    const message = encode('Usage.FeatureStat', JSON.parse(report(shop, { time: inMs })));
    const client = openClient(service.grpc);
    for (const metadata of [{}, {}, retry('0'), retry('x'), retry('1'), retry('2')]) {
      const response = await call(client, '/Usage.Usage/SendStats', message, { metadata });
      expect(response).toMatchObject({ code: 0 });
    }
    client.close();
    expect(await checks(service, shop)).toBe(4);
    await expect.poll(() => notes(service, shop)).toEqual({ possible_repeat: 3, repeated: 2 });
  });

  test('a call marked as a retry counts once if its first attempt never arrived', async () => {
    const shop = await openShop(service);
    const message = parseMessage('Usage.FeatureStat', JSON.parse(report(shop, { time: inMs })));
    for (const attempts of ['1', '2']) {
      const result = await callByWeb(`http://${service.http}`, registry.getService('Usage.Usage')!, message, {
        headers: retry(attempts),
      });
      expect(result.status).toBe('OK');
    }
    expect(await checks(service, shop)).toBe(1);
    await expect.poll(() => notes(service, shop)).toEqual({ repeated: 1 });
  });

  test('a call marked as a retry is a repetition of a report that was counted before a restart', async () => {
    const first = await startLocal();
    const shop = await openShop(first);
    const message = encode('Usage.FeatureStat', JSON.parse(report(shop, { time: inMs })));
    const send = async ({ grpc }: LocalService, metadata: Record<string, string>) => {
      const client = openClient(grpc);
      expect(await call(client, '/Usage.Usage/SendStats', message, { metadata })).toMatchObject({ code: 0 });
      client.close();
    };
    await send(first, {});
    await first.stop();
    const again = await startLocal({ data: first.data, credentials: first.credentials });
    await send(again, retry('1'));
    expect(await checks(again, shop)).toBe(1);
  });
});

test('equal metrics reports count once if their time is finer than a millisecond, and otherwise twice', async () => {
  const shop = await openShop(service);
  for (const [metric, time] of [
    ['ticks', '2026-01-31T12:00:00.1250001Z'],
    ['millis', '2026-01-31T12:00:00.125Z'],
  ]) {
    const body = JSON.stringify({
      appKey: shop.key,
      environment: 'Production',
      time,
      counters: [{ metric, value: 5.5 }],
    });
    for (const _ of [1, 2]) expect(await post(service, '/api/metrics', body)).toBe(200);
  }
  const path = `/api/v2/applications/${shop.application}/measurements?environment=Production&step=day&from=2026-01-01T00:00:00Z`;
  expect(await manage(service.http, shop.access, 'GET', path, 200)).toMatchObject({
    metrics: [
      { metric: 'ticks', sum: 5.5 },
      { metric: 'millis', sum: 11 },
    ],
  });
});
