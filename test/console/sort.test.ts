import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextSort, type SortValue, sortRows } from '../../src/console/components/table/sort.ts';

describe('rows', () => {
  test.each<[string, string, SortValue[], SortValue[]]>([
    ['numbers', 'n', [3, 1, 2], [1, 2, 3]],
    ['numbers, the largest first', '-n', [3, 1, 20], [20, 3, 1]],
    ['names with numbers in them', 'n', ['flag-10', 'Flag-2', 'flag-1'], ['flag-1', 'Flag-2', 'flag-10']],
    ['numbers with absent values last', 'n', [null, 2, undefined, 1], [1, 2, null, undefined]],
    ['numbers with absent values last, the largest first', '-n', [null, 2, 3], [3, 2, null]],
  ])('sortRows sorts %s', (_, sort, values, sorted) => {
    expect(sortRows(values, sort, (value) => value)).toEqual(sorted);
  });

  test('sortRows keeps the order of equal rows, and loses no row', () => {
    const row = fc.record({ id: fc.integer(), value: fc.constantFrom(1, 2, null) });
    fc.assert(
      fc.property(fc.array(row), fc.constantFrom('value', '-value'), (rows, sort) => {
        const sorted = sortRows(rows, sort, ({ value }) => value);
        for (const value of [1, 2, null]) {
          const alike = (all: typeof rows) => all.filter((each) => each.value === value);
          expect(alike(sorted)).toEqual(alike(rows));
        }
      }),
    );
  });
});

describe('the head of a column', () => {
  test.each([
    ['', 'name', false, 'name'],
    ['name', 'name', false, '-name'],
    ['-name', 'name', false, 'name'],
    ['name', 'checks', true, '-checks'],
    ['-checks', 'checks', true, 'checks'],
  ])('the order "%s" becomes, after a click on %s (numeric: %s), the order "%s"', (sort, key, isNumber, next) => {
    expect(nextSort(sort, key, isNumber)).toBe(next);
  });
});
