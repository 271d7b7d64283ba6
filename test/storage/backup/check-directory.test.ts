import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkDirectory } from '../../../src/storage/backup/check-directory.ts';
import {
  type AccountTables,
  accountTables,
  openAccountTables,
  type TableName,
} from '../../../src/storage/lmdb/accounts.ts';
import { openLmdb, openTable } from '../../../src/storage/lmdb/lmdb.ts';
import { openUsageTables, type UsageTables, usageTables } from '../../../src/storage/lmdb/usage.ts';
import { filledDirectory, steady } from './data-directory.ts';

async function listFaults(data: string): Promise<string[]> {
  const words: string[] = [];
  const isSound = await checkDirectory(data, steady, (finding) => {
    if (!finding.isSound) words.push(`${finding.file.slice(data.length + 1)}: ${finding.words}`);
  });
  expect(isSound).toBe(words.length === 0);
  return words;
}

test('an undamaged directory has no findings', async () => {
  expect(await listFaults(filledDirectory())).toEqual([]);
});

/** Changes the last record of a table of usage. */
type Change = (value: Buffer, key: Buffer) => { key?: Buffer; value?: Buffer };

const cut: Change = (value) => ({ value: value.subarray(0, -1) });
const longer: Change = (value) => ({ value: Buffer.concat([value, Buffer.alloc(1)]) });
const noJson: Change = () => ({ value: Buffer.from('{') });

const ofUsage: readonly (readonly [table: keyof UsageTables & string, change: Change, fault: RegExp])[] = [
  ['counts', cut, /counts .*|do not add up/],
  ['measurements', longer, /measurements [0-9a-f]+: the record is malformed/],
  ['carried', cut, /it is damaged/],
  ['series', noJson, /series [0-9a-f]+: /],
  ['seen', cut, /seen [0-9a-f]+: the record is malformed/],
  ['sketches', () => ({ value: Buffer.from([7, 0, 0]) }), /sketches [0-9a-f]+: the record is malformed/],
  ['messages', longer, /messages [0-9a-f]+: the record is malformed/],
  [
    'cumulative',
    (value, key) => ({ key: Buffer.concat([key, key]), value }),
    /cumulative [0-9a-f]+: the record is malformed/,
  ],
  ['totals', longer, /totals [0-9a-f]+: the record is malformed/],
  ['identities', () => ({ value: Buffer.alloc(3) }), /identities [0-9a-f]+: the record is malformed/],
  [
    'identityDays',
    (value, key) => ({ key: key.fill(0, 0, 4), value }),
    /identities [0-9a-f]+: the person is not in the list/,
  ],
  ['exposures', (value, key) => ({ key: key.fill(9, 4), value }), /exposures [0-9a-f]+: the person is not in the list/],
  [
    'exposureDays',
    (value, key) => ({ key: key.fill(0, 0, 4), value }),
    /exposures [0-9a-f]+: the person is not in the list/,
  ],
  ['senders', noJson, /senders [0-9a-f]+: /],
  [
    'ledger',
    (value) => ({ value: Buffer.from(value.toString().replace('http', 'grpc')) }),
    /ledger [0-9a-f]+: the record is under/,
  ],
];

test.each(ofUsage)('the check of a directory finds a damaged record in the table %s', async (table, change, fault) => {
  const data = filledDirectory();
  const store = openUsageTables(data);
  const rows = store[table as 'counts'];
  store.lmdb.transactionSync(() => {
    const last = [...rows.getRange()].at(-1) ?? { key: Buffer.alloc(22, 1), value: Buffer.alloc(0) };
    const key = Buffer.from(last.key);
    const value = Buffer.from(last.value);
    const changed = change(value, Buffer.from(key));
    if (changed.key !== undefined) rows.removeSync(key);
    rows.putSync(changed.key ?? key, changed.value ?? value);
  });
  await store.lmdb.close();
  expect((await listFaults(data)).join('\n')).toMatch(fault);
});

test('the check of a directory finds a count whose series has no name', async () => {
  const data = filledDirectory();
  const accounts = openAccountTables(data);
  const [environment] = Array.from(accounts.applications.getRange()).flatMap(({ value }) => value.environments);
  await accounts.lmdb.close();
  // A block of minute counts. Its ordinals are far above the ordinals of the environment's series.
  const key = Buffer.from('00000000000000003c00000ff0', 'hex');
  key.writeUInt32BE(environment!.number, 0);
  const store = openUsageTables(data);
  const value = Buffer.concat([Buffer.from([1, 0, 0, 0]), Buffer.alloc(24)]);
  store.lmdb.transactionSync(() => store.counts.putSync(key, value));
  await store.lmdb.close();
  expect((await listFaults(data)).join()).toMatch('the series has no name');
});

const ofAccounts: readonly (readonly [TableName, (accounts: AccountTables) => unknown, string])[] = [
  ['teams', ({ teams }) => teams.remove(first(teams)), 'does not exist'],
  ['users', ({ users }) => users.put('other', users.get(first(users))!), 'the record is under another id'],
  [
    'applicationKeys',
    ({ applicationKeys }) => applicationKeys.put('0', applicationKeys.get(first(applicationKeys))!),
    'the record is under another hash',
  ],
  ['audit', ({ audit }) => audit.put('7', audit.get(first(audit))!), 'audit 7: the record is under another number'],
  ['sessions', ({ userSessions }) => userSessions.clearAsync(), 'the session is missing from the sessions of the user'],
  ['notes', ({ notes }) => notes.put('x', { at: 1 } as never), 'notes x: the record is malformed'],
  [
    'webhooks',
    async (accounts) => {
      await accounts.numbers.put('webhook', 9);
      await accounts.webhooks.put('x', { id: 'y', number: 1 } as never);
    },
    'webhooks x: the record is under another id',
  ],
  [
    'webhookDeliveries',
    ({ webhookDeliveries }) => webhookDeliveries.put('a.07', { webhookId: 'a', number: 8 } as never),
    'webhookDeliveries a.07: the record is under another number',
  ],
  ['signingKeys', ({ signingKeys }) => signingKeys.clearAsync(), 'the key that signs tokens is missing'],
  ['numbers', ({ numbers }) => numbers.put('application', 1), 'the sequence of applications is below'],
];

test.each(accountTables)('the check of a directory reports an unreadable record of the table %s', async (table) => {
  const data = filledDirectory();
  const lmdb = openLmdb(join(data, 'accounts'));
  // The name of the table in the file differs from its name in the program.
  const rows = openTable(lmdb, table === 'loginThrottles' ? 'brakes' : table);
  lmdb.transactionSync(() => rows.putSync(Buffer.from('record'), Buffer.from('{"number":')));
  await lmdb.close();
  expect((await listFaults(data)).join()).toMatch(`accounts/data.mdb: it is damaged: ${table}, after `);
});

test('the damaged records of these tests cover every usage table', () => {
  expect(ofUsage.map(([table]) => table).sort()).toEqual([...usageTables].sort());
});

function first(table: { getKeys(range: object): Iterable<string> }): string {
  return [...table.getKeys({ limit: 1 })][0]!;
}

test.each(ofAccounts)('the check of a directory finds damaged records in the table %s', async (_, change, fault) => {
  const data = filledDirectory();
  const accounts = openAccountTables(data);
  await change(accounts);
  await accounts.lmdb.close();
  const [found] = await listFaults(data);
  expect(found).toContain('accounts/data.mdb: it is damaged: ');
  expect(found).toContain(fault);
});

test('the check of a directory rejects a directory without a usage store', async () => {
  const data = filledDirectory();
  rmSync(join(data, 'usage'), { recursive: true });
  expect(await listFaults(data)).toEqual(['usage/data.mdb: missing']);
});
