import { beforeAll, expect, test } from 'vitest';
import type { Overview, OverviewUsers } from '../../src/contract/shapes/overview.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createApplication, createKey, manage, postJson, token, usage } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

let ahead = 0;
const clock: Clock = {
  ...systemClock,
  now: () => systemClock.now() + ahead,
  monotonic: () => systemClock.monotonic() + ahead,
};

const service = opened(() => startLocal({ clock }));
let access: string;
beforeAll(async () => {
  access = await token(service.http, service.credentials);
});

/** Advances the clock, so that results are computed again. */
function passSecond(): void {
  ahead += 1000;
}

async function openShop() {
  const id = await createApplication(service.http, access, { name: 'shop', acceptClientIdentities: true });
  const { key: frontend } = await createKey(service.http, access, id, 'Frontend');
  const { key: backend } = await createKey(service.http, access, id, 'Backend');
  const path = `/api/v2/applications/${id}`;
  const get = (rest: string, headers: Record<string, string> = {}) =>
    fetch(`http://${service.http}${path}${rest}`, { headers: { authorization: `Bearer ${access}`, ...headers } });
  return {
    id,
    path,
    frontend,
    backend,
    get,
    async read(query = ''): Promise<Overview> {
      passSecond();
      const response = await get(`/overview?environment=Production${query}`);
      expect(response.status).toBe(200);
      return (await response.json()) as Overview;
    },
    async send(packet: Record<string, unknown>, key = frontend): Promise<number> {
      return postJson(
        `http://${service.http}/api/frontend/telemetry`,
        { k: key, e: 'Production', ...packet },
        { origin: 'https://shop.example' },
      );
    },
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

test('an overview without data has zeros in every bucket', async () => {
  const { read } = await openShop();
  const overview = await read();
  expect(overview).toMatchObject({
    environment: 'Production',
    step: 'hour',
    totals: { checks: 0, used: 0, viewed: 0, accepted: 0, refused: 0 },
    before: null,
    users: { count: 0 },
    usersBefore: null,
    features: [],
  });
  expect(overview.series.checks).toHaveLength(overview.length);
  expect(overview.start + overview.length * overview.width).toBeGreaterThanOrEqual(Date.parse(overview.to) / 1000);
  expect(overview.days.length).toBeGreaterThanOrEqual(8);
});

test('an overview sums the packets by feature, variant and bucket', async () => {
  const { id, path, send, read, backend } = await openShop();
  await manage(service.http, access, 'POST', `${path}/features`, 201, { name: 'search' });
  for (const [u, variant] of [
    ['ada', 'on'],
    ['bob', 'off'],
    ['ada', 'on'],
  ]) {
    expect(await send({ u, f: { checkout: { [variant!]: [5, 2, 1] }, banner: { on: [1] } } })).toBe(202);
  }
  expect(await send({ f: {} }, backend)).toBe(404);
  await expect.poll(async () => (await read()).totals.refused).toBe(1);
  const overview = await read();
  expect(overview.totals).toEqual({ checks: 18, used: 6, viewed: 3, accepted: 3, refused: 1 });
  expect(overview.users.count).toBe(2);
  expect(overview.features.map(({ feature, checks, variants }) => [feature, checks, variants])).toEqual([
    [
      'checkout',
      15,
      [
        ['on', 10],
        ['off', 5],
      ],
    ],
    ['banner', 3, [['on', 3]]],
    ['search', 0, []],
  ]);
  expect(overview.states).toMatchObject({ undeclared: 2, leakedKeys: 1 });
  for (const each of ['checks', 'used', 'viewed'] as const) {
    expect(sum(overview.series[each])).toBe(overview.totals[each]);
  }
  expect(sum(overview.hourly.accepted)).toBe(3);
  expect(sum(overview.hourly.refused)).toBe(1);
  for (const { checks, spark } of overview.features) expect(sum(spark)).toBe(checks);
  const { from, to } = overview;
  const query = { environment: 'Production', from: new Date(from), to: new Date(to), step: 'day' } as const;
  const report = await usage(service.http, access, id, query);
  const byName = (a: { feature: string }, b: { feature: string }) => (a.feature < b.feature ? -1 : 1);
  const shown = ({ feature, checks, used, viewed }: Overview['features'][number]) => ({
    feature,
    checks,
    used,
    viewed,
  });
  expect(
    overview.features
      .filter(({ checks }) => checks > 0)
      .map(shown)
      .sort(byName),
  ).toEqual(report.features.map((each) => shown(each as never)).sort(byName));
});

test('an overview counts the users of the requested features', async () => {
  const { send, get } = await openShop();
  for (const u of ['ada', 'bob', 'ada']) await send({ u, f: { checkout: { on: [1], off: [1] }, a: { on: [1] } } });
  await send({ u: 'eve', f: { a: { on: [1] } } });
  const response = await get('/overview/users?environment=Production&feature=a&feature=none&feature=checkout');
  const { features, from, to } = (await response.json()) as OverviewUsers;
  expect(features).toEqual([
    { feature: 'a', users: 3 },
    { feature: 'none', users: 0 },
    { feature: 'checkout', users: 2 },
  ]);
  expect(Date.parse(to) - Date.parse(from)).toBe(7 * 86_400_000);
  const many = Array.from({ length: 61 }, (_, at) => `&feature=f${at}`).join('');
  for (const wrong of ['', many]) {
    const { status } = await get(`/overview/users?environment=Production${wrong}`);
    expect(status).toBe(400);
  }
});

test('a request for an unchanged overview gets 304', async () => {
  const { send, get } = await openShop();
  const url = '/overview?environment=Production&from=2020-01-01T00:00:00Z&to=2040-01-01T00:00:00Z&step=day';
  const ask = (headers: Record<string, string> = {}) => get(url, headers);
  for (const coding of ['identity', 'gzip']) {
    passSecond();
    const first = await ask({ 'accept-encoding': coding });
    expect(first.status).toBe(200);
    const etag = first.headers.get('etag')!;
    const text = await first.text();
    passSecond();
    const conditional = { 'accept-encoding': coding, 'if-none-match': etag };
    const again = await ask(conditional);
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('etag')).toBe(etag);
    const same = await ask({ 'accept-encoding': coding });
    expect([same.headers.get('etag'), await same.text()]).toEqual([etag, text]);
    await send({ f: { checkout: { on: [1] } } });
    passSecond();
    const changed = await ask(conditional);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    await changed.arrayBuffer();
  }
});

test.each([
  ['gzip', 'gzip'],
  ['br, gzip;q=0.5', 'gzip'],
  ['*', 'gzip'],
  ['gzip;q=0', null],
  ['br', null],
  ['identity', null],
])('a caller that accepts the encodings %j gets the same overview with the encoding %j', async (accepted, coding) => {
  const { get } = await openShop();
  const url = '/overview?environment=Production';
  const plain = await get(url, { 'accept-encoding': 'identity' });
  const response = await get(url, { 'accept-encoding': accepted });
  expect(response.headers.get('content-encoding')).toBe(coding);
  expect(response.headers.get('vary')).toContain('Accept-Encoding');
  expect(await response.json()).toEqual(await plain.json());
});

test('an overview of a deleted application is not served from the cache', async () => {
  const { path, get, read } = await openShop();
  await read();
  await manage(service.http, access, 'DELETE', path, 204);
  expect((await get('/overview?environment=Production')).status).toBe(404);
});

test('a declaration appears in the overview immediately', async () => {
  const { path, send, get } = await openShop();
  await send({ f: { checkout: { on: [1] } } });
  passSecond();
  const rows = async () => {
    const response = await get('/overview?environment=Production');
    const { features } = (await response.json()) as Overview;
    return features.map(({ feature, declared, archived }) => [feature, declared, archived]);
  };
  expect(await rows()).toEqual([['checkout', false, false]]);
  await manage(service.http, access, 'PATCH', `${path}/features/checkout`, 200, { archived: true });
  expect(await rows()).toEqual([['checkout', true, true]]);
});
