import { expect, test, vi } from 'vitest';
import {
  type AccountTables,
  accountTables,
  openAccountTables,
  type TableName,
} from '../../src/storage/lmdb/accounts.ts';
import { transact } from '../../src/storage/lmdb/lmdb.ts';
import { testClock } from '../accounts/fixture.ts';
import { openSignIn, refresh, type StoredStore } from '../fixtures/stores/fill.ts';
import { urls } from '../fixtures/stores/fill-more.ts';
import { fixtureNames, unpack } from '../fixtures/stores/unpack.ts';
import { freshDirectory, manage } from '../support/binary.ts';
import { startLocal } from '../support/service.ts';

/** Time of the restart of the service, ms after the creation of the fixture. The waiting deliveries are then due. */
const restartedAfter = 180_000;

/** A field that a later version might add to a record. This version must preserve the field in each change. */
const later = { addedLater: ['kept', { as: 'it', was: 1 }] };

type Records = Map<string, Record<string, unknown>>;

function recordsIn(store: AccountTables, table: TableName): Records {
  const records = store[table].getRange() as Iterable<{ key: string; value: unknown }>;
  const objects = Array.from(records, ({ key, value }) => [key, value] as [string, unknown]).filter(
    ([, value]) => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
  return new Map(objects as [string, Record<string, unknown>][]);
}

/** Adds the field to every record. @returns the number of records by table */
async function addField(data: string): Promise<Map<TableName, Records>> {
  const store = openAccountTables(data);
  const all = new Map(accountTables.map((table) => [table, recordsIn(store, table)]));
  transact(store.lmdb, () => {
    for (const [table, records] of all)
      for (const [key, record] of records)
        (store[table] as unknown as { putSync(key: string, value: unknown): void }).putSync(key, {
          ...record,
          ...later,
        });
  });
  await store.lmdb.close();
  return all;
}

test('a change of a record keeps the fields that a later version has added', async () => {
  const data = `${freshDirectory()}/data`;
  const stored = unpack(fixtureNames().at(-1)!, data);
  const args = [...urls, '--webhook-allow-private'];
  const start = (ms: number) =>
    startLocal({ data, clock: testClock(stored.filledAt + ms), credentials: stored.credentials, args });
  const first = await start(60_000);
  const { adminEmail: email, adminPassword: password } = stored.credentials;
  const browser = await openSignIn(first.http, stored.clientId);
  await browser.submit({ email, password, action: 'sign-in' });
  await first.stop();
  const before = await addField(data);
  const service = await start(restartedAfter);
  await openSignIn(service.http, stored.clientId, browser.cookie);
  await changeEverything(service.http, stored);
  await service.stop();

  const store = openAccountTables(data);
  const changed = new Set<TableName>();
  const lost: string[] = [];
  for (const [table, records] of before) {
    const now = recordsIn(store, table);
    for (const [key, record] of records) {
      const { addedLater, ...rest } = now.get(key) ?? {};
      if (!now.has(key)) continue;
      if (JSON.stringify(rest) !== JSON.stringify(record)) changed.add(table);
      if (JSON.stringify(addedLater) !== JSON.stringify(later.addedLater)) lost.push(`${table} ${key}`);
    }
  }
  await store.lmdb.close();
  expect(lost).toEqual([]);
  expect([...changed].sort()).toEqual(changeable);
});

/** The tables whose records are changed in place. Records of other tables are only created and removed. */
const changeable: readonly TableName[] = [
  'apiKeys',
  ...(['applicationKeys', 'applications', 'features', 'metrics', 'sessions', 'signIns', 'teams'] as const),
  ...(['users', 'webhookDeliveries', 'webhookTurns', 'webhooks'] as const),
];

async function changeEverything(http: string, stored: StoredStore): Promise<void> {
  const { application, credentials, more, backendKey } = stored;
  const call = (method: string, path: string, expected: number, body?: unknown) =>
    manage(http, more!.valid, method, `/api/v2${path}`, expected, body) as Promise<never>;
  const below = `/applications/${application}`;
  const team = `/teams/${credentials.teamId}`;
  const users: { items: { id: string; email: string }[] } = await call('GET', '/users', 200);
  const grace = users.items.find(({ email }) => email === 'grace@example.com')!.id;
  const [told] = more!.webhooks;
  const deliveries = `${team}/webhooks/${told}/deliveries`;
  const { items: sent }: { items: { id: string }[] } = await call('GET', deliveries, 200);
  await call('PATCH', below, 200, { name: 'Shop 2', allowedOrigins: [] });
  await call('POST', `${below}/environments`, 201, { name: 'Canary' });
  await call('DELETE', `${below}/environments/Canary`, 204);
  await call('PATCH', `${below}/features/banner`, 200, { archived: true });
  await call('PUT', `${below}/metrics/queue`, 200, { kind: 'counter', unit: 'jobs' });
  await call('PATCH', team, 200, { name: 'Team 2' });
  await call('PATCH', `/users/${grace}`, 200, { name: 'Grace H.' });
  await call('POST', `/users/${grace}/reset-link`, 200, {});
  await call('PATCH', `${team}/webhooks/${told}`, 200, { name: 'Chat 2', events: ['flag.stale'] });
  await call('POST', `${team}/webhooks/${told}/secret`, 200);
  await call('POST', `${deliveries}/${sent[0]!.id}/redeliver`, 200);
  const failing = `${team}/webhooks/${more!.webhooks[1]}/deliveries`;
  await vi.waitFor(async () => {
    const { items }: { items: { latest: { at: string }[] }[] } = await call('GET', failing, 200);
    const since = stored.filledAt + restartedAfter;
    expect(items.some(({ latest }) => Date.parse(latest.at(-1)?.at ?? '') >= since)).toBe(true);
  });
  expect(await refresh(http, stored)).toBe(200);
  const headers = { 'content-type': 'application/json', authorization: backendKey };
  const body = JSON.stringify({ identity: 'ada' });
  expect((await fetch(`http://${http}/api/frontend/identities`, { method: 'POST', headers, body })).status).toBe(200);
}
