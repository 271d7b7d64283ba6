import { expect, test } from 'vitest';
import { openReplicaStore, openUsageTables, scan, type UsageTable } from '../../../src/storage/lmdb/usage.ts';
import { finish } from '../../support/finish.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

test('a scan includes the tables that only a node in a cluster has', async () => {
  const data = temporaryDirectory();
  const replica = openReplicaStore(data);
  replica.lmdb.transactionSync(() => {
    for (let number = 0; number < 700; number += 1)
      replica.forgotten.putSync(Buffer.from(String(number).padStart(6, '0')), Buffer.from('{}'));
  });
  const store = openUsageTables(data);
  const table = 'forgotten' as UsageTable;
  const after = finish(scan(store, { table, after: undefined }));
  expect(Buffer.from(after!).toString()).toBe('000499');
  expect(finish(scan(store, { table, after }))).toBeUndefined();
  await store.lmdb.close();
  await replica.lmdb.close();
});
