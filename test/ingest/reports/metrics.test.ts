import { expect, test } from 'vitest';
import { testClock } from '../../accounts/fixture.ts';
import { createApplication, createKey, manage, postJson, token } from '../../support/binary.ts';
import { type LocalOptions, startLocal } from '../../support/service.ts';

interface Entry {
  readonly metric: string;
  readonly feature?: string;
  readonly variant?: string;
  readonly sum: number;
  readonly last: number;
  readonly lastAt: string;
  readonly series: readonly (readonly [number, number])[];
}

/** Opens a service with one application, and functions that send to it and read from it. */
async function open(options: LocalOptions = {}) {
  const service = await startLocal(options);
  const access = await token(service.http, service.credentials);
  const id = await createApplication(service.http, access, { name: 'shop', rate: 0 });
  const { key } = await createKey(service.http, access, id, 'Backend');
  return {
    stop: service.stop,
    async send(time: number, entries: object): Promise<void> {
      const head = { appKey: key, environment: 'Production', time: new Date(time).toISOString() };
      expect(await postJson(`http://${service.http}/api/metrics`, { ...head, ...entries })).toBe(200);
    },
    async read(filter = ''): Promise<readonly Entry[]> {
      const path = `/api/v2/applications/${id}/measurements?environment=Production&step=minute${filter}`;
      return ((await manage(service.http, access, 'GET', path, 200)) as { metrics: Entry[] }).metrics;
    },
  };
}

test('the observation with the latest time wins in any order of arrival', async () => {
  const { send, read, stop } = await open();
  const now = Math.floor(Date.now() / 1000) * 1000;
  const at = (ago: number) => new Date(now - ago).toISOString();
  const observe = (ago: number, value: number) => ({ metric: 'heat', time: at(ago), value });
  await send(now, { observations: [observe(2_000, 20), observe(1_000, 10), observe(3_000, 30)] });
  await send(now, { observations: [observe(600_000, 99)] });
  const [heat] = await read();
  expect(heat).toMatchObject({ last: 10, lastAt: at(1_000), sum: 159 });
  expect(heat?.series.map(([, value]) => value)).toContain(99);
  await stop();
});

test('an observation with a future time counts as the latest only until the next observation arrives', async () => {
  const clock = testClock();
  const { send, read, stop } = await open({ clock });
  await send(clock.now(), { observations: [{ metric: 'heat', time: '2999-01-01T00:00:00Z', value: 1 }] });
  await send(clock.now() + 1_000, { observations: [{ metric: 'heat', value: 2 }] });
  expect(await read()).toMatchObject([{ last: 2 }]);
  await stop();
});

test('a metric of a feature is shown separately from a metric of the same name without a feature', async () => {
  const { send, read, stop } = await open();
  const stats = [
    { metric: 'sale', value: 1 },
    { metric: 'sale', feature: 'banner', value: 2, valueDisabled: 4 },
    { metric: 'other', value: 8 },
  ];
  await send(Date.now(), { stats });
  const shown = (await read('&metric=sale')).map(({ metric, feature, variant, sum }) => ({
    metric,
    feature,
    variant,
    sum,
  }));
  expect(shown).toEqual([
    { metric: 'sale', feature: undefined, variant: undefined, sum: 1 },
    { metric: 'sale', feature: 'banner', variant: 'enabled', sum: 2 },
    { metric: 'sale', feature: 'banner', variant: 'disabled', sum: 4 },
  ]);
  await stop();
});

test('metrics over the limit, including metrics of features, are counted together', async () => {
  const { send, read, stop } = await open({ args: ['--max-metrics', '2'] });
  const stats = [
    { metric: 'a', value: 1 },
    { metric: 'a', feature: 'f', variantValues: { x: 2, y: 4 } },
    { metric: 'b', value: 8 },
    { metric: 'a', feature: 'g', variantValues: { x: 16 } },
    { metric: 'c', feature: 'f', variantValues: { x: 32 } },
    { metric: 'a', feature: 'f', variantValues: { z: 64 } },
  ];
  await send(Date.now(), { stats });
  const sums = (await read()).map(({ metric, feature = '', variant = '', sum }) => [
    `${metric}/${feature}/${variant}`,
    sum,
  ]);
  expect(Object.fromEntries(sums)).toEqual({
    'a//': 1,
    'a/f/x': 2,
    'a/f/y': 4,
    'a/f/z': 64,
    '__other__//': 8,
    '__other__/__other__/x': 48,
  });
  await stop();
});
