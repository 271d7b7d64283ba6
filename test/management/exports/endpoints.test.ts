import { expect, test } from 'vitest';
import { readTable } from '../../support/read-csv.ts';
import { openRegistry } from '../registry.ts';

const usage = '/usage?environment=Production';

/** `ask` compares every response with the OpenAPI document. */
test.each([
  [`${usage}&format=csv`, {}, 'text/csv'],
  [`${usage}&format=ndjson`, {}, 'application/x-ndjson'],
  [usage, { accept: 'text/csv' }, 'text/csv'],
  [usage, { accept: 'application/x-ndjson, */*;q=0.1' }, 'application/x-ndjson'],
  [usage, { accept: '*/*' }, 'application/json'],
  [`${usage}&format=json`, { accept: 'text/csv' }, 'application/json'],
  [`${usage}&format=csv`, { accept: 'application/json' }, 'text/csv'],
])('the response to %s with the headers %j has the type %s', async (path, headers, type) => {
  const registry = await openRegistry();
  registry.see({ f: { checkout: { on: [3, 2, 1] } } });
  const response = await registry.ask('GET', path, undefined, headers);
  expect([response.status, response.headers['content-type']]).toEqual([200, type]);
});

test.each([
  ['/usage?environment=Production', { feature: 'checkout', variant: 'on', checks: '3', viewed: '1' }],
  ['/measurements?environment=Production', { metric: 'sales', feature: '', value: '5', count: '1' }],
  ['/features', { name: 'checkout', declared: 'false', stale: 'false', description: '' }],
  ['/metrics', { name: 'sales', kind: 'counter', unit: '', declared: 'false' }],
])('the response to %s has rows in CSV', async (path, row) => {
  const registry = await openRegistry();
  registry.see({ f: { checkout: { on: [3, 2, 1] } }, m: { sales: 5 } });
  const { text } = await registry.ask('GET', path, undefined, { accept: 'text/csv' });
  const rows = readTable(text);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject(row);
});

test.each([
  ['/usage', 'step=minute'],
  ['/measurements', 'step=hour'],
])('a CSV export of %s can have more buckets than JSON', async (path, step) => {
  const registry = await openRegistry();
  const query = `${path}?environment=Production&${step}&from=2020-01-01T00:00:00Z`;
  expect((await registry.ask('GET', query)).status).toBe(400);
  expect((await registry.ask('GET', `${query}&format=csv`)).text).toMatch(/^time,environment,[a-zA-Z,]+\r\n$/);
});

test('an export with an unknown format or a wrong query is refused', async () => {
  const registry = await openRegistry();
  expect((await registry.ask('GET', `${usage}&format=xlsx`)).json).toMatchObject({ code: 'invalid_query' });
  expect((await registry.ask('GET', '/usage?environment=None&format=csv')).json).toMatchObject({
    code: 'unknown_environment',
  });
});
