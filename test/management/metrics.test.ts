import { expect, test } from 'vitest';
import { surplusName } from '../../src/contract/names.ts';
import { limits } from '../../src/contract/tiers.ts';
import { refusal } from '../auth/fixture.ts';
import { openRegistry } from './registry.ts';

test('a metric is declared, changed, declared again without a change, and removed', async () => {
  const { ask, application, store } = await openRegistry();
  const made = await ask('PUT', '/metrics/load', { kind: 'gauge', unit: '%' });
  expect(made).toMatchObject({
    status: 201,
    json: { name: 'load', kind: 'gauge', unit: '%', declared: true },
    headers: { location: `/api/v2/applications/${application.id}/metrics/load` },
  });
  const changed = await ask('PUT', '/metrics/load', { kind: 'counter' });
  expect([changed.status, changed.json]).toEqual([200, { name: 'load', kind: 'counter', declared: true }]);
  const again = await ask('PUT', '/metrics/load', changed.json);
  expect([again.status, again.json]).toEqual([200, changed.json]);
  expect((await ask('GET', '/metrics')).json).toEqual({ items: [changed.json], nextCursor: null });
  expect((await ask('DELETE', '/metrics/load')).status).toBe(204);
  expect(await ask('DELETE', '/metrics/load')).toMatchObject(refusal(404, 'not_found'));
  const actions = [...store.audit.getRange().map(({ value }) => value.action)];
  expect(actions.slice(-3)).toEqual(['metric.declared', 'metric.changed', 'metric.deleted']);
});

test('undeclared metrics of all environments are listed as counters, except metrics over the limit', async () => {
  const { ask, see, names } = await openRegistry();
  see({ m: { b: 1, d: 1, f: 1 }, f: { feature: { on: [1] } } });
  see({ m: { c: 1 } }, 'Staging');
  await ask('PUT', '/metrics/a', { kind: 'gauge' });
  await ask('PUT', '/metrics/b', { kind: 'gauge' });
  expect((await ask('GET', '/metrics')).json.items).toEqual([
    { name: 'a', kind: 'gauge', declared: true },
    { name: 'b', kind: 'gauge', declared: true },
    { name: 'c', kind: 'counter', declared: false },
    { name: 'd', kind: 'counter', declared: false },
  ]);
  expect(await names('/metrics?declared=false')).toEqual(['c', 'd']);
  expect(await names('/metrics?declared=true')).toEqual(['a', 'b']);
  let page = 0;
  const late = async () => {
    page += 1;
    if (page === 1) for (const name of ['aa', 'bb']) await ask('PUT', `/metrics/${name}`, { kind: 'gauge' });
  };
  expect(await names('/metrics', late)).toEqual(['a', 'b', 'bb', 'c', 'd']);
});

test('the declared kind of a metric applies to earlier and later values until the declaration is deleted', async () => {
  const { ask, see, clock } = await openRegistry();
  const read = async () => {
    const { json } = await ask('GET', '/measurements?environment=Production&step=hour');
    return json.metrics.map(({ metric, kind, value, sum, last, series }: Record<string, unknown>) => [
      metric,
      kind,
      value,
      sum,
      last,
      (series as number[][]).map(([, shown]) => shown),
    ]);
  };
  see({ m: { load: 5, sales: 5 } });
  see({ m: { load: 3, sales: 3 } });
  clock.advance(3_600_000);
  see({ m: { load: 4, sales: 4 } });
  const counter = (name: string) => [name, 'counter', 12, 12, 4, [8, 4]];
  expect(await read()).toEqual([counter('load'), counter('sales')]);
  await ask('PUT', '/metrics/load', { kind: 'gauge' });
  expect(await read()).toEqual([['load', 'gauge', 4, 12, 4, [3, 4]], counter('sales')]);
  see({ m: { load: 2 } });
  expect(await read()).toEqual([['load', 'gauge', 2, 14, 2, [3, 2]], counter('sales')]);
  await ask('DELETE', '/metrics/load');
  expect((await read())[0]).toEqual(['load', 'counter', 14, 14, 2, [8, 6]]);
});

test('the declared kind of a metric also applies to metrics of features', async () => {
  const { ask, seeFeatureMetric } = await openRegistry();
  for (const [feature, value] of [
    ['a', 1],
    ['a', 2],
    ['b', 3],
  ] as const)
    seeFeatureMetric(feature, 'load', value);
  await ask('PUT', '/metrics/load', { kind: 'gauge' });
  expect((await ask('GET', '/metrics')).json.items).toEqual([{ name: 'load', kind: 'gauge', declared: true }]);
  const { json } = await ask('GET', '/measurements?environment=Production&metric=load');
  expect(json.metrics).toMatchObject([
    { metric: 'load', feature: 'a', variant: 'on', kind: 'gauge', value: 2, sum: 3 },
    { metric: 'load', feature: 'b', variant: 'on', kind: 'gauge', value: 3, sum: 3 },
  ]);
});

test('declaring a metric is refused if the name differs from the name in the path', async () => {
  const { ask } = await openRegistry();
  const refused = refusal(400, 'invalid_body');
  expect(await ask('PUT', '/metrics/load', { kind: 'gauge', name: 'other' })).toMatchObject(refused);
});

test.each([surplusName, '..', 'a%0Ab', 'x'.repeat(257)])('a metric named %j is refused', async (name) => {
  const { ask } = await openRegistry();
  expect(await ask('PUT', `/metrics/${name}`, { kind: 'gauge' })).toMatchObject(refusal(400, 'invalid_name'));
});

test('the plan limits declared metrics', async () => {
  const { ask, directory, team } = await openRegistry();
  await directory.change((tx) => tx.put('teams', team.id, { ...team, plan: 'free' }));
  for (let at = 0; at < limits.metrics.free; at += 1) await ask('PUT', `/metrics/m${at}`, { kind: 'gauge' });
  expect(await ask('PUT', '/metrics/more', { kind: 'gauge' })).toMatchObject(refusal(403, 'plan_limit'));
  expect((await ask('PUT', '/metrics/m0', { kind: 'counter' })).status).toBe(200);
});
