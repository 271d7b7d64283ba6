import { expect, test } from 'vitest';
import { manage, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { type LocalService, startLocal } from '../../support/service.ts';
import type { Shop } from '../repeated-reports.ts';
import { at, checks, frontend, ledger, message, openTestShop, post, sdk } from './shop.ts';

const service = opened(startLocal);

/** Headers of Node SDKs older than version 6. */
const earlyNode = { 'user-agent': 'billing', 'accept-encoding': 'gzip,deflate' };

interface SentMetrics {
  readonly toggles?: object;
  /** Start of the bucket, s. */
  readonly start?: number;
  readonly stop?: number;
  readonly headers?: Record<string, string>;
  readonly more?: object;
  readonly path?: string;
}

const toTime = (seconds: number) => at(seconds - 300);

async function send(service: LocalService, { toggles, start = 0, stop = 60, ...rest }: SentMetrics): Promise<void> {
  const { headers = {}, more = {}, path = '/client/metrics' } = rest;
  const bucket = toggles && { start: toTime(start), stop: toTime(stop), toggles };
  const { status } = await post(service, path, { ...message({}), bucket: bucket ?? null, ...more }, headers);
  expect(status).toBe(202);
}

/** Returns the number of notes by code. */
async function notes(service: LocalService, shop: Shop): Promise<Record<string, number>> {
  const noted = (await ledger(service, shop)).filter(({ outcome }) => outcome === 'noted');
  return Object.fromEntries(noted.map(({ code, count }) => [code, count]));
}

const yes = (count: number, more: object = {}) => ({ checkout: { yes: count, no: 0, variants: {}, ...more } });

const early = { connectionId: undefined, platformName: undefined, platformVersion: undefined };
const variants = (blue: number) => ({ variants: { blue } });

/** Creates `count` buckets, as several processes send them, or as one process sends them at several times. */
const times = (count: number, sent: (process: number) => SentMetrics) =>
  Array.from({ length: count }, (_, n) => sent(n));

test.each<[string, readonly SentMetrics[], object, Record<string, number>]>([
  [
    'forked Python workers, which share their connection id and start time, count in full',
    times(13, (n) => ({ toggles: yes(2), stop: 60 + n / 1000, headers: sdk('python') })),
    { checkout: { enabled: 26 } },
    {},
  ],
  [
    'successive Python workers, whose buckets have the same start time, count in full',
    times(13, (n) => ({ toggles: yes(n + 1), stop: 20 * (n + 1), headers: sdk('python') })),
    { checkout: { enabled: 91 } },
    {},
  ],
  [
    'Puma workers that send equal messages count in full',
    times(8, () => ({ toggles: yes(3), headers: { 'user-agent': 'UnleashClientRuby/6.0.0' } })),
    { checkout: { enabled: 24 } },
    {},
  ],
  [
    'messages of an SDK that does not name itself count in full',
    times(3, () => ({ toggles: yes(3) })),
    { checkout: { enabled: 9 } },
    {},
  ],
  [
    'messages of SDKs for web pages count in full',
    times(3, (n) => ({
      toggles: yes(1),
      path: '/frontend/client/metrics',
      stop: 60 + n,
      headers: { authorization: frontend, 'unleash-sdk': 'unleash-client-node:6.12.1' },
    })),
    { checkout: { enabled: 3 } },
    {},
  ],
  [
    'processes of the SDK for Node with the same instance id and start time count in full',
    times(8, (n) => ({ toggles: yes(5), stop: 60 + (n % 2), headers: earlyNode, more: early })),
    { checkout: { enabled: 40 } },
    { possible_repeat: 7 },
  ],
  [
    'the bucket of an early SDK for Node whose response was lost counts once',
    [
      { toggles: yes(5), headers: earlyNode, more: early },
      { toggles: yes(8), stop: 120, headers: earlyNode, more: early },
    ],
    { checkout: { enabled: 8 } },
    { repeated: 1 },
  ],
  [
    'the variants of an SDK for Go whose response was lost count once',
    [
      { toggles: yes(10, variants(10)), headers: sdk('go') },
      { toggles: yes(13, variants(3)), stop: 120, headers: sdk('go') },
    ],
    { checkout: { blue: 13 } },
    { repeated: 1 },
  ],
  [
    'the interval in the headers of a message determines the end of its bucket',
    [
      { toggles: yes(5), headers: { ...sdk('node'), 'unleash-interval': '10000' } },
      { toggles: yes(7), stop: 70, headers: { ...sdk('node'), 'unleash-interval': '10000' } },
      { toggles: yes(9), stop: 75, headers: { ...sdk('node'), 'unleash-interval': '10000' } },
    ],
    { checkout: { enabled: 16 } },
    { repeated: 1, possible_repeat: 1 },
  ],
  [
    'the SDK and the interval in a registration apply to later messages',
    [
      { path: '/client/register', more: { ...early, sdkVersion: 'unleash-client-node:5.6.1', interval: 10_000 } },
      { toggles: yes(5), stop: 60, more: early },
      { toggles: yes(7), stop: 70, more: early },
    ],
    { checkout: { enabled: 7 } },
    { repeated: 1 },
  ],
  [
    'messages of the SDK for Java count in full after its registration',
    [
      { path: '/client/register', more: { ...early, sdkVersion: 'unleash-client-java:8.0.0', interval: 60_000 } },
      ...times(2, () => ({ toggles: yes(5), more: early, headers: earlyNode })),
    ],
    { checkout: { enabled: 10 } },
    {},
  ],
])('%s', async (_, sent, expected, noted) => {
  const shop = await openTestShop(service);
  for (const each of sent) await send(service, each);
  expect(await checks(service, shop)).toEqual(expected);
  expect(await notes(service, shop)).toEqual(noted);
});

test('a batch that Unleash Edge repeats counts once', async () => {
  const shop = await openTestShop(service);
  const entry = (yes: number) => ({
    featureName: 'checkout',
    appName: 'billing',
    environment: 'production',
    timestamp: toTime(0),
    yes,
    no: 0,
    variants: {},
  });
  const batch = (yes: number) => post(service, '/client/metrics/bulk', { applications: [], metrics: [entry(yes)] });
  for (const yes of [12, 12, 3, 12]) expect((await batch(yes)).status).toBe(202);
  expect(await checks(service, shop)).toEqual({ checkout: { enabled: 15 } });
  await expect.poll(() => notes(service, shop)).toEqual({ repeated: 2 });
});

test('a bucket that a browser repeats counts once, and an equal bucket of another page counts, too', async () => {
  const shop = await openTestShop(service);
  const toggles = { checkout: { yes: 5, no: 0, variants: {} } };
  const bucket = { start: toTime(0), stop: toTime(30), toggles };
  const send = (connectionId?: string) =>
    post(
      service,
      '/frontend/client/metrics',
      { appName: 'web', instanceId: 'browser', connectionId, bucket },
      { authorization: frontend },
    );
  for (const connection of ['one', 'one', 'other', undefined, undefined])
    expect((await send(connection)).status).toBe(202);
  expect(await checks(service, shop)).toEqual({ checkout: { enabled: 20 } });
  await expect.poll(() => notes(service, shop)).toEqual({ repeated: 1 });
});

test('impact metrics that the SDK for Python repeats with another start time are counted again and noted', async () => {
  const shop = await openTestShop(service);
  const metric = (value: number) => ({ impactMetrics: [{ name: 'sales', type: 'counter', samples: [{ value }] }] });
  const headers = sdk('python');
  for (const value of [4, 7]) await send(service, { headers, more: metric(value) });
  const query = new URLSearchParams({ environment: 'Production', step: 'day', from: at(-86_400), to: at(3600) });
  const path = `/api/v2/applications/${shop.application}/measurements?${query}`;
  const access = await token(service.http, service.credentials);
  await expect
    .poll(() => manage(service.http, access, 'GET', path, 200))
    .toMatchObject({ metrics: [{ metric: 'sales', sum: 11 }] });
  expect(await notes(service, shop)).toEqual({ possible_repeat: 1 });
});
