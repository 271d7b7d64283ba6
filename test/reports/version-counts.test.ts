import { expect, test } from 'vitest';
import { VersionCounter } from '../../src/reports/usage/version-counts.ts';
import type { LedgerDimensions, LedgerEntry } from '../../src/storage/lmdb/ledger.ts';

const dimensions: LedgerDimensions = {
  environment: 1,
  transport: 'http',
  route: 'telemetry',
  outcome: 'accepted',
  status: 202,
  code: null,
  userAgent: 'shop-api/1.0',
  instance: null,
};

const entry = (hour: number, count: number, more: Partial<LedgerDimensions> = {}): LedgerEntry => {
  return { hour, count, lastAt: hour * 3_600_000, example: null, dimensions: { ...dimensions, ...more } };
};

test('a version counter sums the messages of a program by version and hour, and omits notes and other programs', () => {
  const counter = new VersionCounter('shop-api', { from: 9, to: 13 });
  const newer = { userAgent: 'shop-api/2.0 (linux)' };
  counter.add(entry(12, 5, newer));
  counter.add(entry(12, 1, { ...newer, outcome: 'noted' }));
  counter.add(entry(12, 9, { userAgent: 'shop-worker/2.0' }));
  counter.add(entry(11, 2, { ...newer, outcome: 'refused', instance: 'api-2' }));
  counter.add(entry(11, 4, { ...newer, instance: 'api-1' }));
  counter.add(entry(10, 7));
  counter.add(entry(9, 8, { userAgent: 'shop-api' }));
  expect(counter.versions).toEqual([
    { version: '2.0', accepted: 9, refused: 2, hourly: [0, 0, 6, 5] },
    { version: '1.0', accepted: 7, refused: 0, hourly: [0, 7, 0, 0] },
    { version: null, accepted: 8, refused: 0, hourly: [8, 0, 0, 0] },
  ]);
});

test('a version counter counts twenty versions separately, and sums the other versions', () => {
  const counter = new VersionCounter('shop-api', { from: 0, to: 31 });
  for (let version = 30; version > 0; version -= 1)
    counter.add(entry(version, 1, { userAgent: `shop-api/${version}` }));
  const { versions } = counter;
  expect(versions).toHaveLength(21);
  expect(versions.at(-1)).toMatchObject({ version: '__other__', accepted: 10 });
});
