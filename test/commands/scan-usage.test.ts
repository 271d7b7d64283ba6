import { expect, test, vi } from 'vitest';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { freshDirectory } from '../support/binary.ts';
import { damagePage, pagesIn } from '../support/damage.ts';
import { startLocal } from '../support/service.ts';

/** Creates a data directory whose usage store has a table with thousands of records. */
async function openUsed(): Promise<{ data: string; file: string }> {
  const data = `${freshDirectory()}/data`;
  await openAccountTables(data).lmdb.close();
  const store = openUsageTables(data);
  store.lmdb.transactionSync(() => {
    for (let number = 0; number < 2500; number += 1)
      store.exposures.putSync(Buffer.from(`9999${String(number).padStart(9, '0')}`), Buffer.alloc(200));
  });
  await store.lmdb.close();
  return { data, file: `${data}/usage/data.mdb` };
}

/** Starts a service whose clock allows it to check only one page of each file at startup. */
async function startWithoutTime(data: string) {
  let now = 0;
  const clock = {
    monotonic() {
      now += 10_000;
      return now;
    },
  };
  const accounts = openAccountTables(data, clock);
  expect(accounts.fullyChecked).toBe(false);
  return startLocal({ data, accounts });
}

test('pages not checked at startup are checked in the background, and damage is logged with the file', async () => {
  const { data, file } = await openUsed();
  const pages = pagesIn(file).get('leaf')!;
  const page = [...pages].sort((a, b) => a - b)[Math.floor(pages.length / 2)]!;
  damagePage(file, page, 10, Buffer.from([0x77]));
  const { log, stop } = await startWithoutTime(data);
  await vi.waitUntil(() => log().includes('"the usage store is damaged"'));
  expect(log()).toContain('"table":"exposures"');
  expect(log()).toContain(`Page ${page} of ${file} is damaged: stop the service and run \`flagmeter verify\``);
  await stop();
});

test('the background check of pages logs that a store is intact', async () => {
  const { data } = await openUsed();
  const { log, stop } = await startWithoutTime(data);
  await vi.waitUntil(() => log().includes('the usage store is intact'));
  await stop();
});
