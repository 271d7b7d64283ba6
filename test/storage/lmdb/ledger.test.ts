import { expect, test } from 'vitest';
import {
  deleteLedger,
  encodeDimensions,
  getLedgerTotal,
  type LedgerDimensions,
  ledgerEntries,
  ledgerKey,
  putLedgerRow,
} from '../../../src/storage/lmdb/ledger.ts';
import type { UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const refused: LedgerDimensions = {
  environment: null,
  transport: 'grpc',
  route: 'metrics',
  outcome: 'refused',
  status: 404,
  code: 'unknown_environment',
  userAgent: 'shop/1.0 "ä"',
  instance: null,
};

const accepted: LedgerDimensions = {
  environment: 7,
  transport: 'grpc-web',
  route: 'usage',
  outcome: 'accepted',
  status: 200,
  code: null,
  userAgent: null,
  instance: 'web-7',
};

const lastAt = Date.UTC(2026, 0, 31, 12);
const refusedTotal = { count: 3, lastAt, example: { environment: 'Prodction', keyPrefix: 'fm_fe_1a2b3c' } };

function put(store: UsageTables, application: number, hour: number, of: LedgerDimensions, count = 3): void {
  const dimensions = encodeDimensions(of);
  const totals = of === refused ? { ...refusedTotal, count } : { count, lastAt, example: null };
  store.lmdb.transactionSync(() =>
    putLedgerRow(store, ledgerKey({ application, hour, subject: dimensions }), dimensions, totals),
  );
}

test('the stored format of a ledger row does not change', async () => {
  const store = temporaryUsage();
  put(store, 5, 491_580, refused);
  put(store, 5, 491_580, accepted);
  const stored = [...store.ledger.getRange()].map(({ key, value }) => [key.toString('hex'), value.toString()]);
  expect(stored).toEqual([
    [
      '000000050007803c3b8382b8ad74029b2c2023aba3cc4048',
      '[[7,"grpc-web","usage","accepted",200,null,null,"web-7"],3,1769860800000,null]',
    ],
    [
      '000000050007803cf231c479456e4208026bfa1fc206233b',
      '[[null,"grpc","metrics","refused",404,"unknown_environment","shop/1.0 \\"ä\\"",null],3,1769860800000,' +
        '{"environment":"Prodction","keyPrefix":"fm_fe_1a2b3c"}]',
    ],
  ]);
});

test('a ledger row is read back as it was written', async () => {
  const store = temporaryUsage();
  put(store, 5, 100, refused);
  put(store, 5, 100, accepted);
  const key = ledgerKey({ application: 5, hour: 100, subject: encodeDimensions(refused) });
  expect(getLedgerTotal(store, key)).toEqual(refusedTotal);
  expect(
    getLedgerTotal(store, ledgerKey({ application: 5, hour: 101, subject: encodeDimensions(refused) })),
  ).toBeUndefined();
  const entries = [...ledgerEntries(store, 5, 100, 101)];
  expect(entries).toContainEqual({ hour: 100, dimensions: refused, ...refusedTotal });
  expect(entries).toContainEqual({ hour: 100, dimensions: accepted, count: 3, lastAt, example: null });
});

test('a ledger row with an old refusal code of an earlier build is read with the current code', async () => {
  const store = temporaryUsage();
  put(store, 5, 100, { ...refused, code: 'engine_unavailable' });
  expect(Array.from(ledgerEntries(store, 5, 100, 101), ({ dimensions }) => dimensions.code)).toEqual([
    'postgres_unavailable',
  ]);
});

test('ledgerEntries returns exactly the requested hours of one application, latest hour first', async () => {
  const store = temporaryUsage();
  for (const application of [4, 5, 6]) {
    for (const hour of [99, 100, 101, 102, 103]) put(store, application, hour, accepted, application);
  }
  const entries = [...ledgerEntries(store, 5, 100, 103)];
  expect(entries.map(({ hour, count }) => [hour, count])).toEqual([
    [102, 5],
    [101, 5],
    [100, 5],
  ]);
  expect([...ledgerEntries(store, 5, 103, 103)]).toEqual([]);
});

test('the expired ledger rows of an application are deleted in bounded steps', async () => {
  const store = temporaryUsage();
  for (const application of [4, 5]) {
    for (const hour of [1, 2, 3, 4]) put(store, application, hour, accepted);
  }
  const listHours = (application: number) => Array.from(ledgerEntries(store, application, 0, 10), ({ hour }) => hour);
  const sweep = (before: number) => store.lmdb.transactionSync(() => deleteLedger(store, 5, before, 2));
  sweep(4);
  expect(listHours(5)).toEqual([4, 3]);
  sweep(4);
  sweep(4);
  expect(listHours(5)).toEqual([4]);
  sweep(-5);
  expect(listHours(5)).toEqual([4]);
  expect(listHours(4)).toEqual([4, 3, 2, 1]);
});
