import { describe, expect, test } from 'vitest';
import { manage } from '../../support/binary.ts';
import { call, openClient } from '../../support/grpc-call.ts';
import { readLedger } from '../../support/ledger-report.ts';
import { openRawGrpc, readEnd } from '../../support/raw-grpc.ts';
import { readRetryInfo } from '../../support/retry-info.ts';
import type { LocalService } from '../../support/service.ts';
import { notes, openShop, type Shop } from '../repeated-reports.ts';
import { decodeResponse, encodeAs, evaluation, logs, metrics, point, resource, sum, traces } from './messages.ts';
import { now, on, send, shareService, variants } from './send.ts';

const inShop = shareService();

const paths = {
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
} as const;

interface SentRequest {
  readonly metadata?: Record<string, string>;
  readonly gzip?: true;
}

/** Exports a request over gRPC. */
async function exportTo(
  { grpc }: Pick<LocalService, 'grpc'>,
  key: string,
  signal: keyof typeof paths,
  request: object,
  { metadata = {}, gzip }: SentRequest = {},
) {
  const client = openClient(grpc, gzip && { 'grpc.default_compression_algorithm': 2 });
  const message = Buffer.from(encodeAs('protobuf', signal, request));
  try {
    return await call(client, paths[signal], message, { metadata: { authorization: `Bearer ${key}`, ...metadata } });
  } finally {
    client.close();
  }
}

/** Returns the number of refused calls in the ledger, by code. */
async function refusals(service: LocalService, { access, application }: Shop): Promise<object> {
  const { entries } = await readLedger(service.http, access, application);
  const refused = entries.filter(
    ({ outcome, route, transport }) => outcome === 'refused' && route === 'otlp' && transport === 'grpc',
  );
  return Object.fromEntries(refused.map(({ code, count }) => [code, count]));
}

describe('export request over gRPC', () => {
  const requests = {
    logs: logs([evaluation(on, now)]),
    traces: traces([{ ...evaluation(on, now), name: 'feature_flag.evaluation', eventName: undefined }]),
    metrics: metrics([sum(1, [point(1, now)])]),
  };

  test('counts an export request of each signal, with the service as the sender', () =>
    inShop(async (service, shop) => {
      for (const signal of ['logs', 'metrics', 'traces'] as const) {
        const { code, response } = await exportTo(service, shop.key, signal, requests[signal]);
        expect({ code, answer: response?.length }).toEqual({ code: 0, answer: 0 });
      }
      expect(await variants(service, shop)).toEqual({ on: 3 });
      const { entries } = await readLedger(service.http, shop.access, shop.application);
      const sender = { userAgent: expect.stringContaining('grpc-node-js'), instance: 'checkout-api' };
      expect(entries).toMatchObject([
        { route: 'otlp', transport: 'grpc', environment: 'Production', outcome: 'accepted', count: 3, sender },
      ]);
      const path = `/api/v2/applications/${shop.application}/features/checkout/senders`;
      expect(await manage(service.http, shop.access, 'GET', path, 200)).toMatchObject({
        items: [{ name: 'checkout-api', version: '1.4.0', route: 'otlp', transport: 'grpc' }],
      });
    }));

  test('an export request that was already sent over HTTP is a repetition, even if it is compressed', () =>
    inShop(async (service, shop) => {
      expect((await send(service, shop, 'logs', requests.logs)).status).toBe(200);
      for (const gzip of [undefined, true] as const)
        expect(await exportTo(service, shop.key, 'logs', requests.logs, gzip && { gzip })).toMatchObject({ code: 0 });
      expect(await variants(service, shop)).toEqual({ on: 1 });
      await expect.poll(() => notes(service, shop)).toEqual({ repeated: 2 });
    }));

  test('reads the key and the environment from the metadata of the call', () =>
    inShop(async (service, shop) => {
      const none = logs([evaluation(on, now)], { attributes: [] });
      const metadata = { authorization: '', 'x-api-key': shop.key, 'x-flagmeter-environment': 'Staging' };
      expect(await exportTo(service, '', 'logs', none, { metadata })).toMatchObject({ code: 0 });
      expect(await variants(service, shop, 'Staging')).toEqual({ on: 1 });
      const unknown = await exportTo(service, 'x', 'logs', requests.logs);
      expect([unknown.code, unknown.trailers.get('flagmeter-code')]).toEqual([5, ['unknown_key']]);
    }));

  test('the response to an export request has the number of records that are not counted', () =>
    inShop(async (service, shop) => {
      const request = metrics([sum(0, [point(7, now)]), sum(1, [point(4, now)])]);
      const { code, response } = await exportTo(service, shop.key, 'metrics', request);
      expect(code).toBe(0);
      expect(decodeResponse('Response', response!)).toEqual({
        partialSuccess: {
          rejected: 1,
          errorMessage: 'Some records about feature flags were not counted (sum_unsupported)',
        },
      });
      expect(await variants(service, shop)).toEqual({ on: 4 });
    }));

  test('an export request over the rate limit is refused with RetryInfo, and recorded in the ledger', () =>
    inShop(async (service) => {
      const shop = await openShop(service, { rate: 1, burst: 1 });
      expect(await exportTo(service, shop.key, 'logs', requests.logs)).toMatchObject({ code: 0 });
      const refused = await exportTo(service, shop.key, 'logs', logs([evaluation(on, now + 1)]));
      expect(refused.code).toBe(8);
      const [details] = refused.trailers.get('grpc-status-details-bin');
      expect(readRetryInfo(details as Buffer).seconds).toBeGreaterThan(0);
      await expect.poll(() => refusals(service, shop)).toEqual({ rate_limited: 1 });
    }));

  test('an export request that is malformed or has an unknown environment is refused and recorded', () =>
    inShop(async (service, shop) => {
      const stream = openRawGrpc(service.grpc);
      const malformed = stream.begin(paths.logs, { authorization: shop.key });
      malformed.end(Buffer.from([0, 0, 0, 0, 1, 0x0a]));
      expect(await readEnd(malformed)).toMatchObject({ status: 3, code: 'invalid_protobuf' });
      const partial = stream.begin(paths.logs, { authorization: shop.key });
      partial.end(Buffer.from([0, 0, 0]));
      expect(await readEnd(partial)).toMatchObject({ status: 3, code: 'invalid_protobuf' });
      stream.close();
      const elsewhere = resource({ 'deployment.environment.name': 'Nowhere' });
      const unknown = await exportTo(service, shop.key, 'logs', logs([evaluation(on, now)], elsewhere));
      expect([unknown.code, unknown.trailers.get('flagmeter-code')]).toEqual([5, ['unknown_environment']]);
      await expect.poll(() => refusals(service, shop)).toEqual({ invalid_protobuf: 2, unknown_environment: 1 });
    }));

  test('an export request that is counted in several event loop iterations is counted completely', () =>
    inShop(async (service, shop) => {
      const events = Array.from({ length: 5000 }, (_, at) => evaluation(on, now + at));
      const sent = await exportTo(service, shop.key, 'logs', logs(events), { gzip: true });
      expect(sent.code).toBe(0);
      expect(await variants(service, shop)).toEqual({ on: 5000 });
    }));
});
