import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowSum } from '../../../src/ingest/formats/reports/content-identity.ts';

type Row = readonly (string | number | undefined)[];

function computeSum(rows: readonly Row[], kind = 1): string {
  const sum = new RowSum();
  for (const row of rows) {
    sum.begin(kind);
    for (const value of row) {
      if (typeof value === 'number') sum.number(value);
      else sum.name(value);
    }
    sum.end();
  }
  return sum.total.join();
}

const row = fc.tuple(fc.option(fc.string(), { nil: undefined }), fc.string(), fc.nat(), fc.double());

describe('RowSum', () => {
  it('RowSum returns the same sum for the same rows in any order', () => {
    const shuffled = fc
      .array(row)
      .chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })));
    fc.assert(
      fc.property(shuffled, ([rows, others]) => {
        expect(computeSum(others)).toBe(computeSum(rows));
      }),
    );
  });

  it.each<[string, readonly Row[], readonly Row[]]>([
    ['text of a name', [['a']], [['b']]],
    ['presence of a name', [['']], [[undefined]]],
    ['value of a number', [[1]], [[2]]],
    ['highest bit of a number', [[0]], [[-0]]],
    ['end of a row', [['a', 'b']], [['a'], ['b']]],
    [
      'assignment of values to rows',
      [
        ['a', 1],
        ['b', 2],
      ],
      [
        ['a', 2],
        ['b', 1],
      ],
    ],
    ['number of equal rows', [['a']], [['a'], ['a']]],
    ['order in a row', [['a', 'b']], [['b', 'a']]],
  ])('RowSum returns another sum if the rows differ in the %s', (_, rows, others) => {
    expect(computeSum(rows)).not.toBe(computeSum(others));
  });

  it('RowSum returns another sum for rows of another kind', () => {
    expect(computeSum([['a', 1]], 2)).not.toBe(computeSum([['a', 1]]));
    expect(computeSum([[]], 2)).not.toBe(computeSum([[]]));
  });

  it('RowSum returns different sums for rows that differ only in small integers', () => {
    const sums = Array.from({ length: 2000 }, (_, index) => {
      const sum = new RowSum();
      sum.begin(1);
      sum.word(index % 50);
      sum.word(index);
      sum.end();
      return sum.total;
    });
    for (const word of [0, 1]) expect(new Set(sums.map((sum) => sum[word])).size).toBe(sums.length);
  });

  it('RowSum returns sums that differ in both words for rows that differ in one bit', () => {
    const sums = Array.from({ length: 2000 }, (_, index) => computeSum([['feature', 'on', index % 50, index]]));
    for (const word of [0, 1]) {
      expect(new Set(sums.map((sum) => sum.split(',')[word])).size).toBe(sums.length);
    }
  });
});
