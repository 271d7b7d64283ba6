import { beforeAll, expect, test } from 'vitest';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { readLedger, readRefusals } from '../support/ledger-report.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

const service = opened(startLocal);
let access: string;
beforeAll(async () => {
  access = await token(service.http, service.credentials);
});

async function openShop(fields: Record<string, unknown> = {}) {
  const id = await createApplication(service.http, access, { name: 'shop', ...fields });
  const addKey = (type: 'Frontend' | 'Mobile' | 'Backend') => createKey(service.http, access, id, type);
  return { id, frontend: await addKey('Frontend'), mobile: await addKey('Mobile'), backend: await addKey('Backend') };
}

type Headers = Record<string, string>;

async function post(path: string, body: unknown, headers: Headers = {}): Promise<number> {
  return postJson(`http://${service.http}${path}`, body, { 'user-agent': 'shop/1.0', ...headers });
}

function sendPacket(packet: Record<string, unknown>, headers?: Headers): Promise<number> {
  const counts = { f: { checkout: { on: [1] } } };
  return post('/api/frontend/telemetry', { e: 'Production', ...counts, ...packet }, headers);
}

const read = (id: string, query = '') => readLedger(service.http, access, id, query);
const readRefused = (id: string, refused: number) => readRefusals(service.http, access, id, refused);

test.concurrent('the ingest report shows a refused Backend key without its text', async () => {
  const { id, backend } = await openShop();
  const body = { k: backend.key, u: 'jane@example.com' };
  expect(await sendPacket(body, { origin: 'https://app.example.com' })).toBe(404);
  const report = await readRefused(id, 1);
  expect(report.entries[0]).toMatchObject({
    environment: 'Production',
    transport: 'http',
    route: 'telemetry',
    sender: { userAgent: 'shop/1.0', instance: null },
    outcome: 'refused',
    status: 404,
    code: 'unknown_key',
    count: 1,
    example: {
      keyId: backend.id,
      keyType: 'Backend',
      keyPrefix: backend.key.slice(0, 12),
      origin: 'https://app.example.com',
      detail: expect.stringContaining('Backend key'),
    },
  });
  expect(JSON.stringify(report)).not.toContain(backend.key);
  expect(JSON.stringify(report)).not.toContain('jane');
  const keys = (await manage(service.http, access, 'GET', `/api/v2/applications/${id}/keys`, 200)) as {
    readonly items: readonly { readonly id: string }[];
  };
  expect(keys.items.find((key) => key.id === backend.id)).toMatchObject({
    lastUsedAt: null,
    refused: { count: 1, lastAt: expect.any(String), reasons: [{ code: 'unknown_key', count: 1 }] },
    warnings: [{ code: 'leaked' }],
  });
});

test.concurrent('the ingest report counts the messages of a program by version if a query names the program', async () => {
  const { id, mobile } = await openShop();
  for (const version of ['1.0', '2.0', '2.0'])
    expect(await sendPacket({ k: mobile.key }, { 'user-agent': `shop/${version}` })).toBe(202);
  const { versions } = await read(id, 'environment=Production&versionsOf=shop');
  expect(versions?.map(({ version, accepted }) => [version, accepted])).toEqual(
    expect.arrayContaining([
      ['1.0', 1],
      ['2.0', 2],
    ]),
  );
  expect((await read(id, 'environment=Production&versionsOf=basket')).versions).toEqual([]);
  expect((await read(id)).versions).toBeUndefined();
});

test.concurrent('the ingest report shows the unknown environment of a refused message', async () => {
  const { id, mobile } = await openShop();
  expect(await sendPacket({ k: mobile.key, e: 'Prodction' })).toBe(404);
  const { entries } = await readRefused(id, 1);
  expect(entries[0]).toMatchObject({
    environment: null,
    status: 404,
    code: 'unknown_environment',
    example: { environment: 'Prodction', keyId: mobile.id },
  });
});

test.concurrent('the ingest report of a new environment omits messages of a deleted environment with the same name', async () => {
  const { id, mobile } = await openShop();
  const environments = `/api/v2/applications/${id}/environments`;
  expect(await sendPacket({ k: mobile.key, e: 'Staging' })).toBe(202);
  await manage(service.http, access, 'DELETE', `${environments}/Staging`, 204);
  expect(await sendPacket({ k: mobile.key, e: 'Staging' })).toBe(404);
  await manage(service.http, access, 'POST', environments, 201, { name: 'Staging' });
  expect(await sendPacket({ k: mobile.key, e: 'Staging' }, { 'user-agent': 'shop/2.0' })).toBe(202);
  const { entries } = await readRefused(id, 1);
  expect(entries).toMatchObject([
    { environment: null, code: 'unknown_environment', example: { environment: 'Staging' } },
    { environment: 'Staging', outcome: 'accepted', count: 1, sender: { userAgent: 'shop/2.0' } },
    { environment: null, outcome: 'accepted', count: 1, sender: { userAgent: 'shop/1.0' } },
  ]);
  const again = await read(id, 'environment=Staging');
  expect(again).toMatchObject({ environment: 'Staging', accepted: 1, refused: 0 });
  expect(again.entries).toHaveLength(1);
});

test.concurrent('the ingest report shows the last wrong origin', async () => {
  const { id, frontend } = await openShop({ allowedOrigins: ['https://app.example.com'] });
  for (const origin of ['https://old.example.com', 'https://staging.example.com']) {
    expect(await sendPacket({ k: frontend.key }, { origin })).toBe(403);
  }
  const { entries } = await readRefused(id, 2);
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({
    environment: 'Production',
    status: 403,
    code: 'origin_not_allowed',
    count: 2,
    example: { origin: 'https://staging.example.com' },
  });
});

test.concurrent('the ingest report attributes a malformed packet to its key, and shows none of its content', async () => {
  const { id, mobile } = await openShop();
  expect(await sendPacket({ k: mobile.key, e: 7, f: { 'jane@example.com': { on: ['x'] } } })).toBe(400);
  const report = await readRefused(id, 1);
  expect(report.entries[0]).toMatchObject({ status: 400, code: 'invalid_body' });
  expect(JSON.stringify(report)).not.toContain('jane');
});

test.concurrent('the ingest report does not show a key that a request has in the wrong field', async () => {
  const { id, mobile, backend } = await openShop();
  const headers = { 'user-agent': `agent ${backend.key}`, origin: `https://${backend.key}` };
  expect(await sendPacket({ k: mobile.key, e: backend.key }, headers)).toBe(404);
  const report = await readRefused(id, 1);
  expect(JSON.stringify(report)).not.toContain(backend.key);
});

test.concurrent('the ingest report immediately counts one accepted message for each response with 202', async () => {
  const { id, mobile } = await openShop();
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      sendPacket(
        { k: mobile.key, e: index % 4 === 0 ? 'Staging' : 'Production' },
        { 'user-agent': `sdk/${index % 2}` },
      ),
    ),
  );
  const accepted = responses.filter((status) => status === 202).length;
  const report = await read(id);
  expect(report).toMatchObject({ environment: null, accepted, refused: 0, entriesLeftOut: 0 });
  expect(report.entries.map(({ environment, sender, count }) => [environment, sender.userAgent, count]).sort()).toEqual(
    [
      ['Production', 'sdk/0', 10],
      ['Production', 'sdk/1', 20],
      ['Staging', 'sdk/0', 10],
    ],
  );
  expect(await read(id, 'environment=Staging')).toMatchObject({ environment: 'Staging', accepted: 10 });
});

test.concurrent('the ingest report shows the instance of a usage report, and a note for an accepted repetition', async () => {
  const { id, backend } = await openShop();
  const report = {
    appKey: backend.key,
    environment: 'Production',
    time: new Date().toISOString(),
    instanceName: 'web-7',
    stats: [],
  };
  const headers = { 'idempotency-key': 'once' };
  expect(await post('/api/usage/stats', report, headers)).toBe(200);
  expect(await post('/api/usage/stats', report, headers)).toBe(200);
  expect(await post('/api/metrics', { ...report, environment: 'Nowhere' })).toBe(404);
  const { entries, accepted, noted } = await readRefused(id, 1);
  expect([accepted, noted]).toEqual([2, 1]);
  const sender = { userAgent: 'shop/1.0', instance: 'web-7' };
  expect(entries).toMatchObject([
    { route: 'metrics', outcome: 'refused', code: 'unknown_environment', sender },
    { route: 'usage', outcome: 'noted', code: 'repeated', sender },
    { route: 'usage', outcome: 'accepted', count: 2, sender },
  ]);
});

test.concurrent('the ingest report includes requests for instance ids', async () => {
  const { id, backend, frontend } = await openShop();
  const mint = (key: string) =>
    post('/api/frontend/identities', { identity: 'jane' }, { authorization: `Bearer ${key}` });
  expect(await mint(backend.key)).toBe(200);
  expect(await mint(frontend.key)).toBe(403);
  const { entries, accepted } = await readRefused(id, 1);
  expect(accepted).toBe(1);
  expect(entries[0]).toMatchObject({ route: 'identities', status: 403, example: { keyId: frontend.id } });
  expect(JSON.stringify(entries)).not.toContain('jane');
});

test.concurrent('the ingest report has a bounded number of entries for many senders', async () => {
  const { id, mobile } = await openShop();
  for (let at = 0; at < 120; at++) {
    await sendPacket({ k: mobile.key }, { 'user-agent': `agent ${at}` });
  }
  const { entries, accepted } = await read(id);
  expect(accepted).toBe(120);
  expect(entries.length).toBeLessThanOrEqual(102); // Limit of two hours: an hour can end during the test.
  expect(entries.map(({ sender }) => sender.userAgent)).toContain('__other__');
});

test.concurrent('the range of the ingest report is validated, and extended to whole hours', async () => {
  const { id } = await openShop();
  await manage(service.http, access, 'GET', `/api/v2/applications/${id}/ingest?from=yesterday`, 400);
  const hours = await read(id, 'from=2026-01-31T12:10:00Z&to=2026-01-31T13:10:00Z');
  expect(hours).toMatchObject({ from: '2026-01-31T12:00:00.000Z', to: '2026-01-31T14:00:00.000Z' });
});

test.concurrent('the ingest report survives a restart, including the last refusals', async () => {
  const first = await startLocal();
  const bearer = await token(first.http, first.credentials);
  const id = await createApplication(first.http, bearer, { name: 'shop' });
  const { key } = await createKey(first.http, bearer, id, 'Mobile');
  for (const e of ['Production', 'Production', 'Nowhere']) {
    await fetch(`http://${first.http}/api/frontend/telemetry`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ k: key, e }),
    });
  }
  await first.stop();
  const second = await startLocal({ data: first.data, credentials: first.credentials });
  const report = await readLedger(second.http, await token(second.http, first.credentials), id);
  expect(report).toMatchObject({ accepted: 2, refused: 1 });
  await second.stop();
});
