import { beforeAll, expect, test, vi } from 'vitest';
import type { IngestReport } from '../../src/contract/shapes/ledger.ts';
import type { Overview, OverviewUsers } from '../../src/contract/shapes/overview.ts';
import type { UsageReport } from '../../src/contract/shapes/reports.ts';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { readRefusals } from '../support/ledger-report.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

const service = opened(startLocal);
let access: string;
let shop: string;

beforeAll(async () => {
  access = await token(service.http, service.credentials);
  shop = await createApplication(service.http, access, { name: 'shop', acceptClientIdentities: true });
  const { key } = await createKey(service.http, access, shop, 'Frontend');
  const { key: backend } = await createKey(service.http, access, shop, 'Backend');
  for (let user = 0; user < 20; user += 1) {
    const f = { checkout: { [user % 3 ? 'on' : 'off']: [2, 1, 1] }, search: { on: [user, 0, 1] } };
    await send({ k: key, e: 'Production', u: `user-${user}`, f });
  }
  // A Backend key is refused in a packet.
  for (let time = 0; time < 3; time += 1) await send({ k: backend, e: 'Production', f: {} });
  for (let time = 0; time < 4; time += 1) await send({ k: key, e: 'Nowhere', f: {} });
  await readRefusals(service.http, access, shop, 7);
  const isAccepted = async () => (await get<IngestReport>('ingest')).accepted === 20;
  await vi.waitUntil(isAccepted, { interval: 100 });
});

async function send(packet: object): Promise<void> {
  await postJson(`http://${service.http}/api/frontend/telemetry`, packet, { origin: 'https://shop.example' });
}

async function get<T>(path: string): Promise<T> {
  return (await manage(service.http, access, 'GET', `/api/v2/applications/${shop}/${path}`, 200)) as T;
}

const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

test.each([
  ['an hour', hourMs, minuteMs, 'minute'],
  ['a day', dayMs, hourMs, 'hour'],
  ['a week', 7 * dayMs, hourMs, 'hour'],
  ['a month', 30 * dayMs, dayMs, 'day'],
] as const)('all reports agree on the counts of %s', async (_, length, width, step) => {
  const end = Math.ceil((Date.now() + 1) / width) * width;
  const [to, from] = [end, end - length].map((at) => new Date(at).toISOString());
  const range = `environment=Production&from=${from}&to=${to}`;
  const overview = await get<Overview>(`overview?${range}&step=${step}`);
  const usage = await get<UsageReport>(`usage?${range}&step=${step}`);
  const users = await get<OverviewUsers>(`overview/users?${range}&feature=checkout&feature=search`);
  const own = await get<IngestReport>(`ingest?${range}`);
  const all = await get<IngestReport>(`ingest?${range}&unnamed=true`);

  expect(overview.totals).toMatchObject({ accepted: 20, refused: 3 });
  expect(own).toMatchObject({ accepted: 20, refused: 3 });
  expect([all.accepted, all.refused, all.noted]).toEqual([own.accepted, own.refused, own.noted]);
  expect(all.unnamed.refused).toBe(4);
  expect(sum(overview.hourly.accepted)).toBe(overview.totals.accepted);
  expect(sum(overview.hourly.refused)).toBe(overview.totals.refused);

  for (const part of ['checks', 'used', 'viewed'] as const) {
    expect(sum(overview.series[part])).toBe(overview.totals[part]);
    expect(sum(overview.features.map((row) => row[part]))).toBe(overview.totals[part]);
    expect(sum(usage.features.map((row) => row[part]))).toBe(overview.totals[part]);
  }
  const byName = new Map(usage.features.map((row) => [row.feature, row]));
  for (const row of overview.features) {
    expect(sum(row.spark)).toBe(row.checks);
    expect(byName.get(row.feature)).toMatchObject({ checks: row.checks, used: row.used, viewed: row.viewed });
  }
  expect(users.features).toEqual(
    ['checkout', 'search'].map((feature) => ({ feature, users: byName.get(feature)?.uniqueUsers })),
  );
  expect(overview.users).toMatchObject({ count: usage.uniqueUsers, from: users.from, to: users.to });
});
