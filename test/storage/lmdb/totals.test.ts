import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { countTotals, recordTotal, sweepTotals, type Total, totalLifeMs } from '../../../src/storage/lmdb/totals.ts';
import { openUsageTables, type UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const noon = Date.UTC(2026, 0, 31, 12);
const application = 7;
let store: UsageTables;

beforeEach(async () => {
  await store?.lmdb.close();
  store = openUsageTables(temporaryDirectory());
});
afterAll(() => store.lmdb.close());

function total(value: number, more: Partial<Total> = {}): Total {
  const digest = Buffer.alloc(16, 1);
  return { application, digest, ref: 1, bucket: 4, value, at: noon, received: noon, fresh: 1, ...more };
}

function count(...totals: readonly Total[]): number[] {
  return store.lmdb.transactionSync(() => totals.map((each) => recordTotal(store, each)));
}

describe('a running total', () => {
  test('only the increase of a running total counts', () => {
    expect(count(total(5), total(8, { at: noon + 1 }), total(8, { at: noon + 2 }))).toEqual([5, 3, 0]);
  });

  test('a running total counts once if it is received again or late', () => {
    expect(count(total(8, { at: noon + 1 }), total(8, { at: noon + 1 }), total(5))).toEqual([8, 0, 0]);
  });

  test('a smaller value with a later time counts in full, because the sender has restarted', () => {
    expect(count(total(8), total(3, { at: noon + 1 }), total(4, { at: noon + 2 }))).toEqual([8, 3, 1]);
  });

  test('values from before a restart of the sender do not count after the restart', () => {
    const late = total(8, { at: noon + 1 });
    expect(count(total(5), total(3, { at: noon + 2 }), late, total(4, { at: noon + 3 }))).toEqual([5, 3, 0, 1]);
  });

  test('the increase of a running total counts after the clock of the sender was set back', () => {
    expect(count(total(5), total(7, { at: noon - 60_000 }))).toEqual([5, 2]);
  });

  test('an unknown running total of a sender that began long ago counts only by its later increases', () => {
    const known = { fresh: 0 };
    expect(count(total(500, known), total(502, { ...known, at: noon + 1 }))).toEqual([0, 2]);
  });

  test('running totals are separate for each digest and each application', () => {
    const other = { digest: Buffer.alloc(16, 2) };
    expect(count(total(5), total(6, other), total(7, { application: 8 }))).toEqual([5, 6, 7]);
    expect([countTotals(store, 7), countTotals(store, 8)]).toEqual([2, 1]);
  });

  test('a running total adds up to its greatest value for any order of arrival', () => {
    const values = fc.array(fc.nat(100), { minLength: 1, maxLength: 8 });
    const orders = values.chain((steps) => {
      let sum = 0;
      const points = steps.map((step, at) => {
        sum += step;
        return total(sum, { at: noon + at });
      });
      return fc.shuffledSubarray([...points, ...points], { minLength: points.length * 2 });
    });
    let run = 0;
    fc.assert(
      fc.property(orders, (points) => {
        run += 1;
        const digest = Buffer.alloc(16);
        digest.writeUInt32BE(run);
        const counted = count(...points.map((point) => ({ ...point, digest })));
        const greatest = Math.max(...points.map(({ value }) => value));
        expect(counted.reduce((sum, each) => sum + each, 0)).toBe(greatest);
      }),
    );
  });
});

describe('sweepTotals', () => {
  function sweep(now: number, limit: number): void {
    store.lmdb.transactionSync(() => {
      let from: Buffer | undefined = Buffer.alloc(0);
      while (from !== undefined) from = sweepTotals(store, now, from, limit);
    });
  }

  test('sweepTotals forgets totals that were not received for a long time', () => {
    const later = noon + totalLifeMs;
    count(total(5), total(6, { digest: Buffer.alloc(16, 2), received: later }), total(7, { application: 8 }));
    sweep(later, 2);
    expect([countTotals(store, 7), countTotals(store, 8)]).toEqual([2, 1]);
    sweep(later + 1, 2);
    expect([countTotals(store, 7), countTotals(store, 8)]).toEqual([1, 0]);
  });

  test('sweepTotals keeps a total that was received again, even with a smaller value', () => {
    count(total(5), total(4, { received: noon + totalLifeMs }));
    sweep(noon + totalLifeMs + 1, 100);
    expect(count(total(6, { at: noon + 1 }))).toEqual([1]);
  });
});
