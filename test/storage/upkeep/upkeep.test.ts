import { expect, test } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createApplication, createKey, manage, token } from '../../support/binary.ts';
import { startLocal } from '../../support/service.ts';

interface Report {
  readonly features: readonly {
    readonly checks: number;
    readonly variants: readonly { readonly series: number[][] }[];
  }[];
}

test('a service that starts again days later rolls up its data, and reports the same sums', async () => {
  const first = await startLocal();
  const access = await token(first.http, first.credentials);
  const id = await createApplication(first.http, access, { name: 'shop' });
  const { key } = await createKey(first.http, access, id, 'Mobile');
  // Three minutes of one hour and one minute of the hour before.
  const start = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 60_000;
  for (const minutesAgo of [0, 1, 2, 61]) {
    const time = new Date(start - minutesAgo * 60_000).toISOString();
    const stats = [{ feature: 'checkout', variantStats: { on: { checkCount: 1 } } }];
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ appKey: key, environment: 'Production', time, stats });
    const response = await fetch(`http://${first.http}/api/usage/stats`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
  }
  await first.stop();

  const days = 4 * 86_400_000;
  const clock = { now: () => Date.now() + days, monotonic: systemClock.monotonic };
  const later = await startLocal({ data: first.data, credentials: first.credentials, clock });
  const again = await token(later.http, later.credentials);
  const hour = 3_600_000;
  const from = new Date(Math.floor(start / hour) * hour - 2 * hour).toISOString();
  const query = `environment=Production&step=minute&from=${from}&to=${new Date(start + 2 * hour).toISOString()}`;
  const read = async () =>
    (await manage(later.http, again, 'GET', `/api/v2/applications/${id}/usage?${query}`, 200)) as Report;
  const starts = async () => (await read()).features[0]?.variants[0]?.series.map(([t]) => (t as number) % 3600);
  await expect.poll(starts).toEqual([0, 0]);
  expect((await read()).features[0]?.checks).toBe(4);
  await later.stop();
});

test('a late report is counted, noted and not erased immediately, even if it is older than all retained data', async () => {
  let now = Date.UTC(2026, 0, 31, 23, 59);
  const clock = { now: () => now, monotonic: systemClock.monotonic };
  const args = ['--keep-minutes', '1', '--keep-hours', '1', '--keep-days', '2'];
  const first = await startLocal({ clock, args });
  const access = await token(first.http, first.credentials);
  const id = await createApplication(first.http, access, { name: 'shop' });
  const { key } = await createKey(first.http, access, id, 'Mobile');
  const send = async (path: string, time: string, more: object) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ appKey: key, environment: 'Production', time, ...more });
    const response = await fetch(`http://${first.http}${path}`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
  };
  const counted = (feature: string) => ({
    stats: [{ feature, enabledCount: 1, uniqueUserHashes: [1, 2] }],
    uniqueUserHashes: [1, 2],
  });
  const at = (ms: number) => new Date(ms).toISOString();
  await send('/api/usage/stats', '1970-01-01T00:00:00Z', counted('early'));
  await send('/api/usage/stats', '9999-01-01T00:00:00Z', counted('late'));
  await send('/api/usage/stats', at(now), counted('now'));
  const observation = { metric: 'heat', value: 3, time: '1970-01-01T00:00:00Z' };
  await send('/api/metrics', at(now), { observations: [observation] });
  await first.stop();

  now += 20 * 3_600_000;
  const later = await startLocal({ data: first.data, credentials: first.credentials, clock, args });
  const again = await token(later.http, later.credentials);
  const read = (path: string, query: string) =>
    manage(later.http, again, 'GET', `/api/v2/applications/${id}/${path}?environment=Production&${query}`, 200);
  const day = 86_400_000;
  const range = `from=${at(now - 3 * day)}&to=${at(now)}`;
  const starts = async () => {
    const { features } = (await read('usage', `feature=now&step=minute&${range}`)) as Report;
    return features[0]?.variants[0]?.series.map(([t]) => (t as number) % 3600);
  };
  await expect.poll(starts).toEqual([0]); // The minutes are rolled up to hours now.
  const oldest = Date.UTC(2026, 0, 30) / 1000;
  const { features } = (await read('usage', `step=day&${range}`)) as Report;
  expect(features).toMatchObject([
    { feature: 'early', checks: 1, uniqueUsers: 2, variants: [{ series: [[oldest, 1, 0, 0]] }] },
    { feature: 'late', checks: 1, variants: [{ series: [[oldest + day / 1000, 1, 0, 0]] }] },
    { feature: 'now', checks: 1 },
  ]);
  expect(await read('measurements', `step=day&${range}`)).toMatchObject({
    metrics: [{ metric: 'heat', count: 1, last: 3, series: [[oldest, 3]] }],
  });
  const { entries } = (await read('ingest', range)) as { entries: { outcome: string; code: string; count: number }[] };
  const moved = entries.filter(({ code }) => code === 'time_moved');
  expect(moved.map(({ outcome, count }) => [outcome, count]).toSorted()).toEqual([
    ['noted', 1],
    ['noted', 2],
  ]);
  await later.stop();
});
