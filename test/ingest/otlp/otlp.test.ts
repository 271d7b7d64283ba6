import { describe, expect, test } from 'vitest';
import { manage, token, usage } from '../../support/binary.ts';
import { readLedger } from '../../support/ledger-report.ts';
import { startLocal } from '../../support/service.ts';
import { notes, openShop, withService } from '../repeated-reports.ts';
import { decodeResponse, evaluation, logs, metrics, point, resource, sum, traces } from './messages.ts';
import { now, on, send, shareService, types, variants } from './send.ts';

const inShop = shareService();

describe('OTLP/HTTP export request', () => {
  const requests = {
    logs: logs([evaluation(on, now)]),
    traces: traces([{ ...evaluation(on, now), name: 'feature_flag.evaluation', eventName: undefined }]),
    metrics: metrics([sum(1, [point(1, now)])]),
  };

  test('an export request of any signal and encoding is counted, and gets the response that OTLP specifies', () =>
    inShop(async (service, shop) => {
      for (const signal of ['logs', 'metrics', 'traces'] as const)
        for (const encoding of ['protobuf', 'json'] as const) {
          const response = await send(service, shop, signal, requests[signal], { encoding });
          expect(response).toMatchObject({ status: 200, type: types[encoding] });
          expect(Buffer.from(response.body).toString()).toBe(encoding === 'json' ? '{}' : '');
        }
      expect(await variants(service, shop)).toEqual({ on: 6 });
      const { entries } = await readLedger(service.http, shop.access, shop.application);
      expect(entries).toMatchObject([
        {
          route: 'otlp',
          transport: 'http',
          environment: 'Production',
          outcome: 'accepted',
          count: 6,
          sender: { userAgent: 'OTel-OTLP-Exporter-JavaScript/0.223.0', instance: 'checkout-api' },
        },
      ]);
      const path = `/api/v2/applications/${shop.application}/features/checkout/senders`;
      expect(await manage(service.http, shop.access, 'GET', path, 200)).toMatchObject({
        items: [{ name: 'checkout-api', version: '1.4.0', route: 'otlp' }],
      });
    }));

  test('counts a repeated export request once, also after a restart', async () => {
    const first = await startLocal();
    const shop = await openShop(first);
    for (let n = 0; n < 3; n += 1)
      expect((await send(first, shop, 'logs', requests.logs, { gzip: true })).status).toBe(200);
    await first.stop();
    await withService(
      async (again) => {
        expect((await send(again, shop, 'logs', requests.logs)).status).toBe(200);
        const signedIn = { ...shop, access: await token(again.http, again.credentials) };
        expect(await variants(again, signedIn)).toEqual({ on: 1 });
        await expect.poll(() => notes(again, signedIn)).toEqual({ repeated: 3 });
      },
      { data: first.data, credentials: first.credentials },
    );
  });

  test('accepts the key of an export request in Authorization with or without Bearer, or in x-api-key', () =>
    inShop(async (service, shop) => {
      const of = async (headers: Record<string, string>) =>
        (await send(service, shop, 'logs', requests.logs, { headers })).status;
      expect(await of({ authorization: shop.key })).toBe(200);
      expect(await of({ authorization: `bearer ${shop.key}` })).toBe(200);
      expect(await of({ authorization: '', 'x-api-key': shop.key })).toBe(200);
      expect(await of({ authorization: '' })).toBe(404);
    }));

  test('responds to a refused export request with a google.rpc.Status', () =>
    inShop(async (service, shop) => {
      const unknown = await send(service, { key: 'x' }, 'logs', requests.logs);
      expect(unknown).toMatchObject({ status: 404, type: types.protobuf });
      expect(decodeResponse('Status', unknown.body)).toEqual({
        message: 'unknown_key: Send a key of an application in Authorization or x-api-key',
      });
      const malformed = await send(service, shop, 'logs', [1] as never, { encoding: 'json' });
      expect(malformed).toMatchObject({ status: 400, type: types.json });
      expect(JSON.parse(Buffer.from(malformed.body).toString())).toEqual({
        message: 'invalid_body: The body must be an object',
      });
      const text = await send(service, shop, 'logs', {}, { headers: { 'content-type': 'text/plain' } });
      expect(text).toMatchObject({ status: 400, type: 'application/problem+json' });
    }));

  test('refuses an export request over the rate limit with Retry-After', () =>
    inShop(async (service) => {
      const shop = await openShop(service, { rate: 1, burst: 1 });
      expect((await send(service, shop, 'logs', requests.logs)).status).toBe(200);
      const refused = await send(service, shop, 'logs', logs([evaluation(on, now + 1)]));
      expect(refused).toMatchObject({ status: 429, type: types.protobuf });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }));

  test('counts every record of an export request that takes several event loop iterations', () =>
    inShop(async (service, shop) => {
      const events = Array.from({ length: 5000 }, (_, at) =>
        evaluation({ ...on, 'feature_flag.key': `flag-${at % 1500}` }, now + at),
      );
      for (const encoding of ['protobuf', 'json'] as const)
        expect(await send(service, shop, 'logs', logs(events), { encoding, gzip: true })).toMatchObject({
          status: 200,
        });
      const report = await usage(service.http, shop.access, shop.application, {
        environment: 'Production',
        step: 'hour',
        from: new Date(now - 86_400_000),
        to: new Date(now + 3_600_000),
      });
      expect(report.features.reduce((checks, each) => checks + each.checks, 0)).toBe(10_000);
    }));
});

describe('environment of a resource', () => {
  test('an environment name can differ in case, be in a header, or be omitted if there is only one environment', () =>
    inShop(async (service, shop) => {
      const lower = resource({ 'deployment.environment.name': 'staging' });
      const none = { attributes: [] };
      await send(service, shop, 'logs', logs([evaluation(on, now)], lower));
      const headers = { 'x-flagmeter-environment': 'Staging' };
      await send(service, shop, 'logs', logs([evaluation(on, now)], none), { headers });
      expect(await variants(service, shop, 'Staging')).toEqual({ on: 2 });
      expect((await send(service, shop, 'logs', logs([evaluation(on, now)], none))).status).toBe(404);
      const single = await openShop(service, { name: 'single', environments: ['Live'] });
      expect((await send(service, single, 'logs', logs([evaluation(on, now)], none))).status).toBe(200);
      expect(await variants(service, single, 'Live')).toEqual({ on: 1 });
    }));

  test('a resource without an environment counts in the environment of its token, unless that environment was deleted', () =>
    inShop(async (service, shop) => {
      const below = `/api/v2/applications/${shop.application}`;
      const adopted = { token: 'default:staging.otlp-0123456789ab', type: 'Backend', environment: 'Staging' };
      await manage(service.http, shop.access, 'POST', `${below}/keys/adopt`, 201, adopted);
      const key = adopted.token;
      const none = logs([evaluation(on, now)], { attributes: [] });
      expect((await send(service, { key }, 'logs', none)).status).toBe(200);
      expect(await variants(service, shop, 'Staging')).toEqual({ on: 1 });
      await manage(service.http, shop.access, 'DELETE', `${below}/environments/Staging`, 204);
      expect((await send(service, { key }, 'logs', none)).status).toBe(404);
      const named = logs([evaluation(on, now)]);
      expect((await send(service, { key }, 'logs', named)).status).toBe(200);
      expect(await variants(service, shop)).toEqual({ on: 1 });
    }));

  test('an export request is accepted except for its records of an unknown environment', () =>
    inShop(async (service, shop) => {
      const unknown = resource({ 'deployment.environment.name': 'Moon' });
      const good = logs([evaluation(on, now)]);
      const bad = logs([evaluation(on, now), evaluation(on, now)], unknown);
      const both = { resourceLogs: [...bad.resourceLogs, ...good.resourceLogs] };
      const response = await send(service, shop, 'logs', both);
      expect(response.status).toBe(200);
      expect(decodeResponse('Response', response.body)).toEqual({
        partialSuccess: {
          rejected: 2,
          errorMessage: 'Some records about feature flags were not counted (environment_unknown)',
        },
      });
      const json = await send(
        service,
        shop,
        'logs',
        { resourceLogs: [...both.resourceLogs, {}] },
        { encoding: 'json' },
      );
      expect(JSON.parse(Buffer.from(json.body).toString())).toMatchObject({
        partialSuccess: { rejectedLogRecords: '2' },
      });
      expect(await variants(service, shop)).toEqual({ on: 2 });
      expect(await notes(service, shop)).toEqual({ environment_unknown: 2 });
    }));
});

test('users of an export request count only if the application accepts identities of clients', () =>
  inShop(async (service) => {
    const users = async (acceptClientIdentities: boolean) => {
      const shop = await openShop(service, { name: `users ${acceptClientIdentities}`, acceptClientIdentities });
      const events = ['ann', 'bob', 'ann'].map((user) => evaluation({ ...on, 'feature_flag.context.id': user }, now));
      await send(service, shop, 'logs', logs(events));
      const report = await usage(service.http, shop.access, shop.application, {
        environment: 'Production',
        step: 'hour',
        from: new Date(now - 86_400_000),
        to: new Date(now + 3_600_000),
      });
      return report.features.map(({ checks, uniqueUsers }) => [checks, uniqueUsers]);
    };
    expect(await users(true)).toEqual([[3, 2]]);
    expect(await users(false)).toEqual([[3, 0]]);
  }));

test('an export request without flag evaluations is accepted, and nothing is counted', () =>
  inShop(async (service, shop) => {
    const other = logs([{ timeUnixNano: '1', body: { stringValue: 'GET /' } }], { attributes: [] });
    expect((await send(service, shop, 'logs', other)).status).toBe(200);
    const { entries } = await readLedger(service.http, shop.access, shop.application);
    expect(entries).toMatchObject([{ route: 'otlp', environment: null, outcome: 'accepted', count: 1 }]);
  }));
