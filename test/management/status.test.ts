import { beforeAll, describe, expect, test } from 'vitest';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { readRefusals } from '../support/ledger-report.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

const service = opened(startLocal);
let access: string;
beforeAll(async () => {
  access = await token(service.http, service.credentials);
});

interface Status {
  readonly [rate: string]: unknown;
  readonly commits: { readonly total: number; readonly meanMs: number };
}

function read<T = unknown>(path: string, status = 200): Promise<T> {
  return manage(service.http, access, 'GET', `/api/v2${path}`, status) as Promise<T>;
}

async function post(path: string, body: object, headers: object = {}): Promise<number> {
  return postJson(`http://${service.http}${path}`, body, { 'user-agent': 'shop/1.0', ...headers });
}

const origin = 'https://shop.example';

test('the status contains the numbers of received packets, reports and refusals', async () => {
  const id = await createApplication(service.http, access, { name: 'busy' });
  const { key } = await createKey(service.http, access, id, 'Mobile');
  const time = new Date().toISOString();
  expect(await post('/api/frontend/telemetry', { k: key, e: 'Production' })).toBe(202);
  expect(await post('/api/frontend/telemetry', { k: 'x', e: 'Production' })).toBe(404);
  expect(await post('/api/usage/stats', { appKey: key, environment: 'Production', time, stats: [] })).toBe(200);
  const status = await read<Status>('/status');
  expect(status).toMatchObject({ ready: true, reason: '', commits: { failed: 0 }, queue: { waiting: 0 } });
  for (const rate of ['packetsPerSecond', 'reportsPerSecond', 'refusedPerSecond'])
    expect(status[rate], rate).toBeGreaterThan(0);
  expect(status.commits.total).toBeGreaterThan(0);
  expect(status.commits.meanMs).toBeGreaterThan(0);
});

describe('a sender with an unknown key', () => {
  const key = `fm_fe_${'c0ffee'.repeat(6)}abcd`;

  test('an unknown key is listed with its prefix, the origin of its request and the sent environment', async () => {
    for (let time = 0; time < 2; time += 1)
      expect(await post('/api/frontend/telemetry', { k: key, e: 'Prod' }, { origin })).toBe(404);
    const { items } = await read<{ items: unknown[] }>('/unattributed');
    expect(items[0]).toEqual({
      at: expect.any(String),
      route: 'telemetry',
      transport: 'http',
      code: 'unknown_key',
      keyPrefix: 'fm_fe_c0ffee',
      origin,
      userAgent: 'shop/1.0',
      environment: 'Prod',
      count: 2,
    });
    expect(JSON.stringify(items)).not.toContain(key);
  });
});

test('the origin check predicts the response to a packet', async () => {
  const allowedOrigins = ['https://shop.example', 'https://*.shop.example'];
  const id = await createApplication(service.http, access, { name: 'origins', allowedOrigins });
  const { key } = await createKey(service.http, access, id, 'Frontend');
  for (const [sent, by] of [
    ['https://www.shop.example', 'https://*.shop.example'],
    ['https://shop.example', 'https://shop.example'],
    ['http://shop.example', null],
  ] as const) {
    const check = await read<{ allowed: boolean }>(
      `/applications/${id}/origin-check?origin=${encodeURIComponent(sent)}`,
    );
    expect(check).toMatchObject({ origin: sent, allowed: by !== null, by });
    const status = await post('/api/frontend/telemetry', { k: key, e: 'Production' }, { origin: sent });
    expect(status).toBe(check.allowed ? 202 : 403);
  }
  await read(`/applications/${id}/origin-check`, 400);
});

test('the ledger of an environment counts messages of unknown environments separately, and agrees with the overview', async () => {
  const id = await createApplication(service.http, access, { name: 'misspelt' });
  const { key } = await createKey(service.http, access, id, 'Mobile');
  for (const e of ['Production', 'Staging', 'Prodction']) await post('/api/frontend/telemetry', { k: key, e });
  await readRefusals(service.http, access, id, 1);
  const path = `/applications/${id}/ingest?environment=Production`;
  expect(await read(path)).toMatchObject({ accepted: 1, refused: 0 });
  expect(await read(`${path}&unnamed=false`)).toMatchObject({ accepted: 1, refused: 0 });
  expect(await read(`${path}&unnamed=true`)).toMatchObject({
    environment: 'Production',
    accepted: 1,
    refused: 0,
    unnamed: { accepted: 0, refused: 1, noted: 0 },
    entries: [
      { code: 'unknown_environment', example: { environment: 'Prodction', keyName: 'Mobile' } },
      { outcome: 'accepted' },
    ],
  });
  const overview = `/applications/${id}/overview?environment=Production`;
  expect(await read(overview)).toMatchObject({ totals: { accepted: 1, refused: 0 } });
});
