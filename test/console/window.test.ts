import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeView, drawn, moveTo } from '../../src/console/components/table/window.ts';

describe('the rendered rows', () => {
  test('the table renders all visible rows, and few other rows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -90_000, max: 2000 }),
        fc.integer({ min: 200, max: 2000 }),
        fc.integer({ min: 0, max: 3000 }),
        (top, height, count) => {
          const { first, end } = computeView(top, height, 40, count);
          for (let index = 0; index < count; index++) {
            const upper = top + index * 40;
            const inView = upper + 40 > 0 && upper < height;
            if (inView) expect(index >= first && index < end).toBe(true);
          }
          expect(end - first).toBeLessThanOrEqual(height / 40 + 28);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('scrolling by a few rows does not change the rendered rows', () => {
    const views = Array.from({ length: 20 }, (_, index) => computeView(-4000 - index, 800, 40, 2000));
    expect(new Set(views.map(({ first, end }) => `${first} ${end}`)).size).toBeLessThanOrEqual(2);
  });

  test.each([
    [{ first: 10, end: 13 }, 0, [0, 10, 11, 12]],
    [{ first: 10, end: 13 }, 11, [10, 11, 12]],
    [{ first: 10, end: 13 }, 90, [10, 11, 12, 90]],
    [{ first: 10, end: 13 }, -1, [10, 11, 12]],
    [{ first: 0, end: 0 }, 5, [5]],
    [{ first: 98, end: 110 }, 98, [98, 99]],
    [{ first: 105, end: 110 }, 3, [3]],
  ])('the table with the view %j and the active row %d renders the rows %j', (view, active, indices) => {
    expect(drawn(view, active, 100)).toEqual(indices);
  });
});

describe('a key', () => {
  test.each([
    ['ArrowDown', 3, 4],
    ['ArrowDown', 99, 99],
    ['ArrowUp', 3, 2],
    ['ArrowUp', 0, 0],
    ['PageDown', 3, 23],
    ['PageDown', 95, 99],
    ['PageUp', 30, 10],
    ['Home', 30, 0],
    ['End', 30, 99],
    ['a', 30, undefined],
    ['toString', 30, undefined],
  ])('the key %s moves the focus from row %d to row %s', (key, at, to) => {
    expect(moveTo(key, at, 100, 20)).toBe(to);
  });
});
