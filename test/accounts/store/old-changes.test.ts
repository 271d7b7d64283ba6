import { expect } from 'vitest';
import { trimLogs } from '../../../src/replication/log-upkeep.ts';
import { needing } from '../../support/needing.ts';
import { connect, newDatabase, openNode, sharedServer } from './postgres-fixture.ts';

const { test } = needing('postgresql');

test('stored changes are removed after a day, except for the last thousand changes', async () => {
  const postgres = await sharedServer();
  const url = await newDatabase(postgres);
  const { accountStore } = openNode(url);
  const insert = "INSERT INTO fm_change SELECT n, n, now() - interval '2 days', '[]' FROM generate_series(1, 3000) n";
  await postgres.query(insert, [], url);
  await postgres.query(`INSERT INTO fm_record VALUES ('numbers', 'teams', '7')`, [], url);
  await postgres.query("UPDATE fm_head SET position = 3000, id = 3000 WHERE log = 'control'", [], url);
  await trimLogs(connect(url));
  const rows = await postgres.query('SELECT min(version)::int, max(version)::int FROM fm_change', [], url);
  expect(rows).toEqual([{ min: 2000, max: 3000 }]);
  await accountStore.current();
  expect(accountStore.version).toBe(3000);
});
