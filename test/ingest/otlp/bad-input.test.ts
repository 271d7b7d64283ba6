import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { manage, usage } from '../../support/binary.ts';
import { readLedger } from '../../support/ledger-report.ts';
import { checks, notes } from '../repeated-reports.ts';
import { decodeResponse, encodeAs, evaluation, logs, metrics, point, resource, sum } from './messages.ts';
import { now, on, send, shareService, types, variants } from './send.ts';

const inShop = shareService('--max-features', '5000');

const day = 86_400_000;

describe('export request with bad input', () => {
  test.each<[what: string, bad: object[], rejected: number, note: string]>([
    ['a sum without a temporality', [sum(0, [point(7, now)])], 1, 'sum_unsupported'],
    ['a negative value of each temporality', [sum(1, [point(-7, now)]), sum(2, [point(-7, now)])], 2, 'value_dropped'],
    ['a value that is not a number', [sum(1, [point(Number.NaN, now)])], 1, 'value_dropped'],
    ['a point without a flag', [sum(1, [{ ...point(7, now), attributes: [] }])], 1, 'name_dropped'],
  ])('%s in an export request is rejected, and the rest is counted', (_, bad, rejected, note) =>
    inShop(async (service, shop) => {
      const response = await send(service, shop, 'metrics', metrics([...bad, sum(1, [point(4, now)])]));
      expect(response.status).toBe(200);
      expect(decodeResponse('Response', response.body)).toEqual({
        partialSuccess: { rejected, errorMessage: `Some records about feature flags were not counted (${note})` },
      });
      expect(await variants(service, shop)).toEqual({ on: 4 });
      expect(await notes(service, shop)).toEqual({ [note]: 1 });
    }),
  );

  test('an event with a time one day ahead counts at the current time', () =>
    inShop(async (service, shop) => {
      const ahead = Date.now() + day;
      const of = { 'feature_flag.result.variant': 'ahead' };
      const response = await send(service, shop, 'logs', logs([evaluation(of, ahead), evaluation(on, Date.now())]));
      expect(response).toMatchObject({ status: 200, body: new Uint8Array(0) });
      const started = { startTimeUnixNano: `${ahead}000000` };
      for (const value of [3, 5])
        await send(service, shop, 'metrics', metrics([sum(2, [{ ...point(value, ahead + value), ...started }])]));
      expect(await variants(service, shop)).toEqual({ ahead: 1, on: 6 });
      expect(await notes(service, shop)).toEqual({ time_moved: 3 });
    }));

  test('up to 5 000 flags are counted separately, and flags over this limit are counted together', () =>
    inShop(async (service, shop) => {
      const flags = (from: number, to: number) =>
        logs(
          Array.from({ length: to - from }, (_, at) =>
            evaluation({ ...on, 'feature_flag.key': `flag-${from + at}` }, now),
          ),
        );
      expect(await send(service, shop, 'logs', flags(0, 5000))).toMatchObject({ status: 200 });
      const more = await send(service, shop, 'logs', flags(4900, 5100));
      expect(more).toMatchObject({ status: 200, body: new Uint8Array(0) });
      const from = new Date(now - day);
      const to = new Date(now + 3_600_000);
      const query = { environment: 'Production', step: 'hour', from, to } as const;
      const { features } = await usage(service.http, shop.access, shop.application, query);
      const of = new Map(features.map((each) => [each.feature, each.checks]));
      expect([of.get('flag-0'), of.get('flag-4999'), of.get('__other__')]).toEqual([1, 2, 100]);
      expect(await notes(service, shop)).toEqual({ series_folded: 1 });
    }));

  test('a flag whose name is not UTF-8 is rejected, and the rest of the request is counted', () =>
    inShop(async (service, shop) => {
      const body = encodeAs(
        'protobuf',
        'logs',
        logs([evaluation({ 'feature_flag.key': 'BAD' }, now), evaluation(on, now)]),
      );
      body[Buffer.from(body).indexOf('BAD')] = 0xff;
      const response = await send(service, shop, 'logs', body);
      expect(decodeResponse('Response', response.body)).toMatchObject({ partialSuccess: { rejected: 1 } });
      expect(await checks(service, shop)).toBe(1);
      expect(await notes(service, shop)).toEqual({ name_dropped: 1 });
    }));

  test('records of a deleted environment are rejected, and the rest of the request is counted', () =>
    inShop(async (service, shop) => {
      const path = `/api/v2/applications/${shop.application}/environments/Staging`;
      await manage(service.http, shop.access, 'DELETE', path, 204);
      const deleted = logs([evaluation(on, now)], resource({ 'deployment.environment.name': 'Staging' }));
      const alone = await send(service, shop, 'logs', deleted);
      expect(alone).toMatchObject({ status: 404, type: types.protobuf });
      expect(decodeResponse('Status', alone.body)).toMatchObject({
        message: expect.stringMatching(/^unknown_environment: deployment\.environment\.name of the resource/),
      });
      const both = { resourceLogs: [...deleted.resourceLogs, ...logs([evaluation(on, now)]).resourceLogs] };
      const response = await send(service, shop, 'logs', both);
      expect(decodeResponse('Response', response.body)).toMatchObject({ partialSuccess: { rejected: 1 } });
      expect(await variants(service, shop)).toEqual({ on: 1 });
      const { entries } = await readLedger(service.http, shop.access, shop.application);
      expect(entries.map(({ outcome, code }) => [outcome, code]).sort()).toEqual([
        ['accepted', null],
        ['noted', 'environment_unknown'],
        ['refused', 'unknown_environment'],
      ]);
    }));
});

describe('refused export request', () => {
  test('a truncated export request is refused', () =>
    inShop(async (service, shop) => {
      const body = encodeAs('protobuf', 'logs', logs([evaluation(on, now)]));
      for (const length of [1, body.length / 2, body.length - 1]) {
        const response = await send(service, shop, 'logs', body.slice(0, length));
        expect(response.status).toBe(400);
        expect(decodeResponse('Status', response.body)).toMatchObject({
          message: expect.stringMatching(/^invalid_protobuf: The message is truncated/),
        });
      }
      expect((await send(service, shop, 'logs', body)).status).toBe(200);
      expect(await checks(service, shop)).toBe(1);
    }));

  test('an export request that is too large after decompression is refused', () =>
    inShop(async (service, shop) => {
      const bomb = new Uint8Array(gzipSync(Buffer.alloc(256 * 1024 * 1024)));
      const headers = { 'content-encoding': 'gzip' };
      for (const encoding of ['protobuf', 'json'] as const) {
        const response = await send(service, shop, 'logs', bomb, { encoding, headers });
        expect(response).toMatchObject({ status: 413, type: types[encoding] });
      }
      expect((await send(service, shop, 'logs', bomb.slice(0, 1000), { headers })).status).toBe(400);
    }));
});
