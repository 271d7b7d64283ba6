import { expect, test } from 'vitest';
import { maxShown, prometheusReport } from '../../src/reports/usage/month-usage.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { parseExposition } from '../support/exposition.ts';
import { finish } from '../support/finish.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';
import { openRegistry, type Registry } from './registry.ts';

async function scrape(registry: Registry, query = '') {
  const response = await registry.ask('GET', `/prometheus${query}`);
  expect([response.status, response.headers['content-type']]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return parseExposition(response.text);
}

test('the Prometheus endpoint exposes the usage of this month by environment, feature and variant', async () => {
  const registry = await openRegistry();
  registry.see({ f: { checkout: { on: [3, 2, 1] } }, m: { sales: 5 } });
  registry.see({ f: { checkout: { on: [1], 'a "b" \\ c': [2] } }, m: { sales: 2 } });
  registry.see({ f: { checkout: { on: [7] } } }, 'Staging');
  registry.seeFeatureMetric('checkout', 'depth', 4);
  await registry.ask('PUT', '/metrics/depth', { kind: 'gauge' });
  const { samples, types } = await scrape(registry);
  const labels = { environment: 'Production', feature: 'checkout', variant: 'on' };
  expect(samples).toEqual(
    expect.arrayContaining([
      { name: 'flagmeter_feature_checks_total', labels, value: 4 },
      { name: 'flagmeter_feature_used_total', labels, value: 2 },
      { name: 'flagmeter_feature_viewed_total', labels, value: 1 },
      { name: 'flagmeter_feature_checks_total', labels: { ...labels, variant: 'a "b" \\ c' }, value: 2 },
      { name: 'flagmeter_feature_checks_total', labels: { ...labels, environment: 'Staging' }, value: 7 },
      { name: 'flagmeter_metric_total', labels: { environment: 'Production', metric: 'sales' }, value: 7 },
      { name: 'flagmeter_metric', labels: { ...labels, metric: 'depth' }, value: 4 },
      { name: 'flagmeter_series_left_out', labels: { of: 'features' }, value: 0 },
    ]),
  );
  expect(types.get('flagmeter_feature_checks_total')).toBe('counter');
  const staging = await scrape(registry, '?environment=Staging');
  expect(staging.samples.filter(({ labels }) => labels['environment'] === 'Production')).toEqual([]);
  expect((await registry.ask('GET', '/prometheus?environment=None')).json).toMatchObject({
    code: 'unknown_environment',
  });
});

test('the Prometheus counters are reset at the beginning of each month', async () => {
  const registry = await openRegistry();
  const checks = async () =>
    (await scrape(registry)).samples.find(({ name }) => name === 'flagmeter_feature_checks_total')?.value;
  registry.see({ f: { checkout: { on: [3] } } });
  expect(await checks()).toBe(3);
  const now = new Date(registry.clock.now());
  registry.clock.advance(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime());
  expect(await checks()).toBeUndefined();
  registry.see({ f: { checkout: { on: [2] } } });
  expect(await checks()).toBe(2);
});

test('the Prometheus endpoint exposes the largest of too many series, and counts the omitted series', async () => {
  const store = temporaryUsage();
  const batch = new Batch();
  const surplus = 7;
  for (let ordinal = 0; ordinal < maxShown.features + surplus; ordinal += 1) {
    batch.series.push({ environment: 1, ordinal, name: [`feature-${ordinal}`, 'on'] });
    const checks = ordinal < surplus ? 1 : 2;
    batch.counts.add(seriesRef(1, ordinal), encodeBucket(bucketWidth.minute, 1441), checks, 0, 0);
  }
  createAggregator(store).write(batch.seal());
  const environments = [{ name: 'Production', number: 1 }];
  const range = { from: 1440, to: 2000, step: 'day' } as const;
  const { samples } = parseExposition(
    await finish(prometheusReport(store, { environments, range, gauges: new Set() })),
  );
  const shown = samples.filter(({ name }) => name === 'flagmeter_feature_checks_total');
  expect(shown).toHaveLength(maxShown.features);
  expect(new Set(shown.map(({ value }) => value))).toEqual(new Set([2]));
  expect(samples).toContainEqual({ name: 'flagmeter_series_left_out', labels: { of: 'features' }, value: surplus });
});
