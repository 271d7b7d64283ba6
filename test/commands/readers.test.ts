import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { oldestReader } from '../../src/storage/lmdb/store-health.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { createKey, manage, token, usage } from '../support/binary.ts';
import { startLocal } from '../support/service.ts';
import { openShop } from '../support/shop.ts';

/**
 * Number of commits after the reports. While a read transaction is open, each commit adds 22 kB that cannot be reused.
 */
const commits = 300;

test('threads end their read transaction after each report, so that the file does not grow', async () => {
  const service = await startLocal();
  const { http, data, credentials } = service;
  const { application, key } = await openShop(http, credentials);
  const access = await token(http, credentials);
  const send = async () => {
    const { status } = await fetch(`http://${http}/api/frontend/telemetry`, {
      method: 'POST',
      headers: { origin: 'https://shop.example' },
      body: JSON.stringify({ k: key, e: 'Production', f: { checkout: { on: [1] } }, m: { purchases: 1 } }),
    });
    expect(status).toBe(202);
  };
  await send();
  const path = `/api/v2/applications/${application}`;
  const now = Date.now();
  const range = { from: new Date(now - 86_400_000), to: new Date(now + 86_400_000) };
  await usage(http, access, application, { environment: 'Production', step: 'minute', ...range });
  for (const report of ['measurements?environment=Production', 'ingest', 'features', 'metrics', 'features/checkout'])
    await manage(http, access, 'GET', `${path}/${report}`, 200);
  await manage(http, access, 'GET', '/api/v2/audit', 200);
  await createKey(http, access, application, 'Mobile'); // This call also commits to the store of the accounts.

  const store = openUsageTables(data);
  const size = () => statSync(`${data}/usage/data.mdb`).size;
  for (let warm = 0; warm < 20; warm += 1) await send();
  const before = size();
  for (let sent = 0; sent < commits; sent += 1) await send();
  expect(oldestReader(store.lmdb)?.lag ?? 0).toBeLessThanOrEqual(1);
  expect(size() - before).toBeLessThan(256 * 1024);
  await store.lmdb.close();
  await service.stop();
});
