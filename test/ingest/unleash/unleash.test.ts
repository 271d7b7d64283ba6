import { describe, expect, test } from 'vitest';
import { manage, token } from '../../support/binary.ts';
import { readRefusals } from '../../support/ledger-report.ts';
import { opened } from '../../support/opened.ts';
import { type LocalService, startLocal } from '../../support/service.ts';
import {
  at,
  backend,
  checks,
  frontend,
  ledger,
  message,
  notesIn,
  openTestShop,
  openUnleash,
  post,
  sdk,
} from './shop.ts';

const service = opened(startLocal);

describe('POST /api/client/metrics', () => {
  test('counts a bucket in the environment of its token, and records the service and SDK as the sender', async () => {
    const shop = await openTestShop(service);
    const headers = { 'unleash-sdk': 'unleash-client-node:6.12.1' };
    const toggles = { checkout: { yes: 12, no: 3, variants: { blue: 7 } } };
    const response = await post(service, '/client/metrics', message(toggles), headers);
    expect([response.status, response.text, response.headers.get('flagmeter-noted')]).toEqual([202, '', null]);
    expect(await checks(service, shop)).toEqual({ checkout: { enabled: 5, disabled: 3, blue: 7 } });
    const [entry] = await ledger(service, shop);
    expect(entry).toMatchObject({
      environment: 'Production',
      route: 'unleash',
      outcome: 'accepted',
      status: 202,
      count: 1,
      sender: { userAgent: 'billing (unleash-client-node 6.12.1; node 22.1.0)', instance: 'billing-1' },
    });
    const path = `/api/v2/applications/${shop.application}/features/checkout/senders`;
    const { items } = (await manage(service.http, shop.access, 'GET', path, 200)) as { items: object[] };
    expect(items).toMatchObject([{ name: 'billing', version: 'unleash-client-node 6.12.1', route: 'unleash' }]);
  });

  test('counts only the additional checks of a bucket that is sent again after a restart', async () => {
    const { service: first, shop } = await openUnleash();
    const start = at(-60);
    const metric = (value: number) => ({ impactMetrics: [{ name: 'sales', type: 'counter', samples: [{ value }] }] });
    const send = (to: LocalService, toggles: object, value: number, stop = at(-30)) => {
      const sent = message(toggles, metric(value));
      return post(to, '/client/metrics', { ...sent, bucket: { start, stop, toggles } }, sdk('node'));
    };
    await send(first, { checkout: { yes: 5 } }, 2);
    await first.stop();
    const again = await startLocal({ data: first.data, credentials: first.credentials });
    await send(again, { checkout: { yes: 8 }, search: { no: 1 } }, 3, at(0));
    expect(await checks(again, shop)).toEqual({ checkout: { enabled: 8 }, search: { disabled: 1 } });
    const query = new URLSearchParams({ environment: 'Production', step: 'day', from: at(-86_400), to: at(3600) });
    const path = `/api/v2/applications/${shop.application}/measurements?${query}`;
    const access = await token(again.http, again.credentials);
    const report = (await manage(again.http, access, 'GET', path, 200)) as { metrics: object[] };
    expect(report.metrics).toMatchObject([{ metric: 'sales', sum: 3 }]);
    expect(notesIn(await ledger(again, { ...shop, access }))).toEqual(['repeated']);
    await again.stop();
  });

  test.each([
    ['another connection', { connectionId: 'c-2' }],
    ['another start time', { start: at(-30) }],
    ['another service', { appName: 'shipping' }],
  ])('counts an equal bucket with %s in full', async (_, more) => {
    const shop = await openTestShop(service);
    await post(service, '/client/metrics', message({ checkout: { yes: 5 } }), sdk('node'));
    await post(service, '/client/metrics', message({ checkout: { yes: 5 } }, more), sdk('node'));
    expect(await checks(service, shop)).toEqual({ checkout: { enabled: 10 } });
  });

  test('counts the valid entries of a bucket, and the ledger notes the invalid entries', async () => {
    const shop = await openTestShop(service);
    const manyToggles = Object.fromEntries(Array.from({ length: 5000 }, (_, flag) => [`flag-${flag}`, { yes: 1 }]));
    const toggles = { 'bad\u0000name': { yes: 1 }, checkout: { yes: -1, no: 2 }, search: 7, ...manyToggles };
    const ahead = new Date(Date.now() + 86_400_000).toISOString();
    const body = { ...message({}), bucket: { start: at(-60), stop: ahead, toggles } };
    const { status, headers } = await post(service, '/client/metrics', body);
    expect([status, headers.get('flagmeter-noted')]).toEqual([202, 'name_dropped; bucket.toggles["bad\\u0000name"]']);
    const counted = await checks(service, shop);
    expect([counted['checkout'], counted['flag-0'], counted['__other__']]).toEqual([
      { disabled: 2 },
      { enabled: 1 },
      { enabled: 5000 - 1999 },
    ]);
    expect(notesIn(await ledger(service, shop))).toEqual([
      'name_dropped',
      'series_folded',
      'time_moved',
      'value_dropped',
    ]);
  });

  test('the ledger notes a gauge until the gauge is declared', async () => {
    const shop = await openTestShop(service);
    const impactMetrics = [{ name: 'queue', type: 'gauge', samples: [{ value: 7 }] }];
    const send = (start: string) =>
      post(service, '/client/metrics', message({ checkout: { yes: 1 } }, { start, impactMetrics }));
    const counts = async () =>
      (await ledger(service, shop)).filter(({ code }) => code === 'gauge_undeclared').map(({ count }) => count);
    expect((await send(at(-60))).status).toBe(202);
    expect(await counts()).toEqual([1]);
    const metric = `/api/v2/applications/${shop.application}/metrics/queue`;
    await manage(service.http, shop.access, 'PUT', metric, 201, { kind: 'gauge' });
    expect((await send(at(-30))).status).toBe(202);
    expect(await counts()).toEqual([1]);
  });

  test('counts nothing for a registration or a bucket that is null', async () => {
    const shop = await openTestShop(service);
    const bodies = [
      message({}, { bucket: null }),
      { appName: 'billing', instanceId: 'i', sdkVersion: 'unleash-client-go:4.0.0' },
    ];
    expect((await post(service, '/client/metrics', bodies[0])).status).toBe(202);
    expect((await post(service, '/client/register', bodies[1])).status).toBe(202);
    expect(await checks(service, shop)).toEqual({});
    const entries = await ledger(service, shop);
    expect(entries.map(({ sender }) => sender.userAgent)).toContain('billing (unleash-client-go 4.0.0)');
  });
});

test('entries of Unleash Edge count in the named environment, or in the environment of the token', async () => {
  const shop = await openTestShop(service);
  const entry = (environment: string, yes: number) => ({
    featureName: 'checkout',
    appName: 'billing',
    environment,
    timestamp: at(0),
    yes,
    no: 0,
  });
  const send = async (...metrics: unknown[]) =>
    (await post(service, '/client/metrics/bulk', { applications: [], metrics })).headers.get('flagmeter-noted');
  expect(await send(entry('production', 1), entry('Production', 2), entry('staging', 4), entry('qa', 8))).toBe(
    'environment_unknown; metrics[3].environment',
  );
  expect(await checks(service, shop)).toEqual({ checkout: { enabled: 3 } });
  expect(await checks(service, shop, 'Staging')).toEqual({ checkout: { enabled: 4 } });
  expect(notesIn(await ledger(service, shop))).toEqual(['environment_unknown']);
  const environments = `/api/v2/applications/${shop.application}/environments`;
  await manage(service.http, shop.access, 'POST', environments, 201, { name: 'staging' });
  await send(entry('staging', 1), entry('STAGING', 2)); // STAGING matches two environments, so it is not counted.
  expect(await checks(service, shop, 'Staging')).toEqual({ checkout: { enabled: 4 } });
  expect(await checks(service, shop, 'staging')).toEqual({ checkout: { enabled: 1 } });
});

describe('POST /api/frontend/client/metrics', () => {
  const origin = 'https://shop.example';
  const path = '/frontend/client/metrics';

  test('a page can send a message after a preflight, and read the response', async () => {
    const shop = await openTestShop(service);
    const preflight = await fetch(`http://${service.http}/api${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    const allowed = preflight.headers.get('access-control-allow-headers')!.split(', ');
    for (const name of ['authorization', 'content-type', 'unleash-appname', 'unleash-connection-id', 'unleash-sdk'])
      expect(allowed).toContain(name);
    const body = message({ checkout: { yes: 1 } }, { instanceId: 'browser' });
    const responses = [
      await post(service, path, body, { origin, authorization: frontend }),
      await post(service, path, '{', { origin, authorization: frontend }),
      await post(service, path, body, { origin, authorization: 'unknown' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([202, 400, 404]);
    for (const { headers } of responses) expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(await checks(service, shop)).toEqual({ checkout: { enabled: 1 } });
  });

  test.each([
    ['a flag', { search: 7 }, 'value_dropped; bucket.toggles.search'],
    ['a count', { search: { no: -1 } }, 'value_dropped; bucket.toggles.search.no'],
    ['a variant', { search: { variants: { on: 0.5 } } }, 'value_dropped; bucket.toggles.search.variants.on'],
  ])('a page can read in the response that %s was left out', async (_, toggles, noted) => {
    await openTestShop(service);
    const { status, headers } = await post(service, path, message(toggles), { origin, authorization: frontend });
    expect([status, headers.get('flagmeter-noted'), headers.get('access-control-expose-headers')]).toEqual([
      202,
      noted,
      'Flagmeter-Noted',
    ]);
  });

  test('refuses a page of another origin, and marks a Backend token that a page sends as leaked', async () => {
    const shop = await openTestShop(service);
    const application = `/api/v2/applications/${shop.application}`;
    await manage(service.http, shop.access, 'PATCH', application, 200, { allowedOrigins: [origin] });
    const body = message({ checkout: { yes: 1 } });
    const refused = await post(service, path, body, { origin: 'https://copy.example', authorization: frontend });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    expect((await post(service, path, body, { origin })).status).toBe(404);
    const { entries } = await readRefusals(service.http, shop.access, shop.application, 2);
    expect(entries.find(({ code }) => code === 'unknown_key')?.example?.['detail']).toBe(
      'A Backend key was sent in Authorization by a page or an app. This key has leaked; replace it',
    );
    expect((await post(service, path, body, { authorization: frontend })).status).toBe(202);
    expect(await checks(service, shop)).toEqual({ checkout: { enabled: 1 } });
  });
});

test('a message whose token has no environment gets 404, so that SDKs back off', async () => {
  const shop = await openTestShop(service);
  const send = (authorization: string) =>
    post(service, '/client/metrics', message({ checkout: { yes: 1 } }), { authorization });
  expect((await send('default:production.unknown')).status).toBe(404);
  expect((await send('')).status).toBe(404);
  expect((await send(shop.key)).status).toBe(404);
  const environment = `/api/v2/applications/${shop.application}/environments/Production`;
  await manage(service.http, shop.access, 'DELETE', environment, 204);
  const { status, text } = await send(backend);
  expect([status, JSON.parse(text).code]).toEqual([404, 'unknown_environment']);
});
