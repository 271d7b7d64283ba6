import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { cleanUp, createApplication, createKey, manage, token } from '../support/binary.ts';
import { startLocal } from '../support/service.ts';

afterAll(cleanUp);

interface Report {
  readonly features: readonly {
    readonly checks: number;
    readonly variants: readonly { readonly series: number[][] }[];
  }[];
}

test('a service that is started days later rolls up its data, and reports the same sums', async () => {
  const first = await startLocal();
  const access = await token(first.http, first.credentials);
  const id = await createApplication(first.http, access, { name: 'shop' });
  const { key } = await createKey(first.http, access, id, 'Mobile');
  const start = Date.now();
  for (const minutesAgo of [0, 1, 2, 61]) {
    const time = new Date(start - minutesAgo * 60_000).toISOString();
    const stats = [{ feature: 'checkout', variantStats: { on: { checkCount: 1 } } }];
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ appKey: key, environment: 'Production', time, stats });
    const answer = await fetch(`http://${first.http}/api/usage/stats`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
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
  const starts = async () =>
    (await read()).features[0]?.variants[0]?.series.map(([t]) => (t as number) % 3600);
  await expect.poll(starts, { timeout: 10_000 }).toEqual([0, 0]);
  expect((await read()).features[0]?.checks).toBe(4);
  await later.stop();
});
