import { describe, expect, test } from 'vitest';
import { token } from '../../support/binary.ts';
import { startLocal } from '../../support/service.ts';
import { notes, openShop, withService } from '../repeated-reports.ts';
import { decodeResponse, metrics, point, sum } from './messages.ts';
import { now, send, shareService, variants } from './send.ts';

const inShop = shareService();

describe('cumulative sum', () => {
  const started = now - 60_000;
  const total = (value: number, at: number, start = started) => metrics([sum(2, [point(value, at, start)])]);

  test('only the increase of a cumulative sum is counted, also after a restart of the service', async () => {
    const first = await startLocal();
    const shop = await openShop(first);
    for (const [value, at] of [
      [5, 1],
      [8, 2],
      [5, 1],
      [8, 3],
    ] as const)
      expect((await send(first, shop, 'metrics', total(value, now + at))).status).toBe(200);
    expect(await variants(first, shop)).toEqual({ on: 8 });
    await first.stop();
    await withService(
      async (again) => {
        await send(again, shop, 'metrics', total(10, now + 4));
        await send(again, shop, 'metrics', total(2, now + 5, now)); // Sent by another process.
        const access = await token(again.http, again.credentials);
        expect(await variants(again, { ...shop, access })).toEqual({ on: 12 });
      },
      { data: first.data, credentials: first.credentials },
    );
  });

  test('a cumulative sum that began long ago counts only its increase after its first point', () =>
    inShop(async (service, shop) => {
      const long = now - 3 * 86_400_000;
      await send(service, shop, 'metrics', total(5000, now, long));
      await send(service, shop, 'metrics', total(5003, now + 1, long));
      expect(await variants(service, shop)).toEqual({ on: 3 });
    }));

  test.each([
    ['without a start', 0, 3],
    ['that began long ago', now - 3 * 86_400_000, 3],
    ['that began a moment ago', started, 5003],
  ])('the ledger notes the first point of a cumulative sum %s if the point does not count', (_, start, counted) =>
    inShop(async (service, shop) => {
      await send(service, shop, 'metrics', total(5000, now, start));
      await send(service, shop, 'metrics', total(5003, now + 1, start));
      expect(await variants(service, shop)).toEqual({ on: counted });
      expect(await notes(service, shop)).toEqual(counted === 3 ? { first_point: 1 } : {});
      await send(service, shop, 'metrics', total(5004, now + 2, start)); // The store has the earlier totals now.
      expect(await notes(service, shop)).toEqual(counted === 3 ? { first_point: 1 } : {});
    }),
  );

  test('the ledger notes a cumulative sum if several processes share its resource and start time', () =>
    inShop(async (service, shop) => {
      for (const [value, at] of [
        [10, 1],
        [6, 2], // Another process.
        [12, 3],
        [11, 2], // A late point, which the one before includes.
      ] as const)
        await send(service, shop, 'metrics', total(value, now + at));
      expect(await notes(service, shop)).toEqual({ shared_series: 1 });
    }));

  test('a falling cumulative sum without a start time does not count as a sum of several senders', () =>
    inShop(async (service, shop) => {
      await send(service, shop, 'metrics', total(10, now + 1, 0));
      await send(service, shop, 'metrics', total(2, now + 2, 0));
      expect(await notes(service, shop)).toEqual({ first_point: 1 });
    }));

  test('a cumulative sum next to a histogram is counted, and the ledger notes the histogram', () =>
    inShop(async (service, shop) => {
      const histogram = { name: sum(1, []).name, histogram: { dataPoints: [{ count: '3' }] } };
      const response = await send(
        service,
        shop,
        'metrics',
        metrics([histogram, ...total(4, now).resourceMetrics[0]!.scopeMetrics[0]!.metrics]),
      );
      expect(decodeResponse('Response', response.body)).toMatchObject({ partialSuccess: { rejected: 1 } });
      expect(await variants(service, shop)).toEqual({ on: 4 });
      expect(await notes(service, shop)).toEqual({ sum_unsupported: 1 });
    }));
});
