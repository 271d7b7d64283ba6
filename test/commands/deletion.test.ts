import { expect, test } from 'vitest';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { manage, token } from '../support/binary.ts';
import { attachPeople, openPeople, type People } from '../support/people.ts';
import { dump } from '../support/whole-batch.ts';

interface Audit {
  readonly items: readonly { readonly action: string; readonly target: { readonly name: string } }[];
}

/** Sends data of every kind, so that every table contains rows of the application. */
async function fill(people: People): Promise<void> {
  const i = await people.mint('ann');
  const headers = { 'content-type': 'application/json' };
  const time = new Date(people.clock.now()).toISOString();
  for (const environment of ['Production', 'Staging']) {
    expect(await people.check('checkout', { i }, environment)).toBe(202);
    const report = { appKey: people.keys.Backend, environment, time };
    for (const [path, stats] of [
      ['usage/stats', [{ feature: 'cart', enabledCount: 1, uniqueUserHashes: [1, 2, 3] }]],
      ['metrics', [{ metric: 'amount', feature: 'cart', value: 1 }]],
    ] as const) {
      const body = JSON.stringify({ ...report, stats });
      const response = await fetch(`http://${people.service.http}/api/${path}`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
    }
  }
}

/**
 * Returns the numbers of the environments and applications that have stored data. The table of messages is skipped,
 * because its keys contain no such number.
 */
async function numbersIn(data: string): Promise<{ environments: Set<number>; applications: Set<number> }> {
  const store = openUsageTables(data);
  const found = { environments: new Set<number>(), applications: new Set<number>() };
  for (const record of dump(store)) {
    const [table = '', key = ''] = record.split(' ');
    if (table === 'messages' || Buffer.from(key, 'hex').toString() === 'secret') continue;
    // Keys of tables with one row a day begin with the day.
    const number = Number.parseInt(table.endsWith('Days') ? key.slice(8, 16) : key.slice(0, 8), 16);
    found[/^(identit|ledger)/.test(table) ? 'applications' : 'environments'].add(number);
  }
  await store.lmdb.close();
  return found;
}

/** Returns the numbers of the application and its environments, and the number of pending deletions. */
async function readAccounts(data: string) {
  const store = openAccountTables(data);
  const [application] = store.applications.getRange().map(({ value }) => value);
  const deletions = store.deletions.getCount();
  const declared = store.features.getCount();
  await store.lmdb.close();
  return { application: application!, deletions, declared };
}

test('a restart completes the removal of deleted applications and environments, and keeps all others', async () => {
  const people = await openPeople({ args: ['--workers', '2'] });
  const other = await attachPeople(people.service, people.clock);
  for (const each of [people, other]) await fill(each);
  await people.call('POST', '/features', 201, { name: 'declared' });
  await people.call('DELETE', '', 204);
  await other.call('DELETE', '/environments/Staging', 204);
  await other.call('POST', '/environments', 201, { name: 'Staging' });
  await people.service.stop();
  const { data, credentials } = people.service;
  expect(await readAccounts(data)).toMatchObject({ deletions: 2, declared: 0 });
  expect((await numbersIn(data)).environments.size).toBe(4);

  const later = await other.restart();
  const erased = async () => {
    const access = await token(later.service.http, credentials);
    const { items } = (await manage(later.service.http, access, 'GET', '/api/v2/audit', 200)) as Audit;
    return items.filter(({ action }) => action.endsWith('.erased')).map(({ action, target }) => [action, target.name]);
  };
  await expect.poll(erased).toEqual([
    ['environment.erased', 'Staging'],
    ['application.erased', 'shop'],
  ]);
  const features = (await later.call('GET', '/features', 200)) as { items: { name: string }[] };
  expect(features.items.map(({ name }) => name)).toEqual(['cart', 'checkout']);
  expect(await later.exposures('ann')).toHaveLength(1);
  expect(await later.exposures('ann', 'Staging')).toEqual([]);
  await later.service.stop();

  const { application, deletions } = await readAccounts(data);
  const [production] = application.environments;
  expect(deletions).toBe(0);
  expect(await numbersIn(data)).toEqual({
    environments: new Set([production!.number]),
    applications: new Set([application.number]),
  });
});
