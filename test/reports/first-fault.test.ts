import fc from 'fast-check';
import { expect, test } from 'vitest';
import { narrowToFault, pointerBefore } from '../../src/reports/first-fault.ts';

/** Right is what has a number for `n` and in its lists nothing below zero. */
function isRight(body: unknown): boolean {
  const { n, ...lists } = body as Record<string, unknown>;
  return (
    typeof n === 'number' && Object.values(lists).every((list) => (list as number[]).every((x) => x >= 0))
  );
}

test('of lists with something wrong the first wrong entry is left, and its place is known', () => {
  const list = fc.array(fc.integer({ min: -1, max: 20 }), { maxLength: 60 });
  fc.assert(
    fc.property(list, list, (a, b) => {
      const narrowed = narrowToFault({ n: 1, a, b }, isRight);
      const [name, at] = a.some((x) => x < 0) ? ['a', a.indexOf(-1)] : ['b', b.indexOf(-1)];
      if (at < 0) {
        expect(narrowed).toBeUndefined();
        return;
      }
      expect(narrowed).toMatchObject({ list: name, at, body: { [name]: [-1] } });
      expect(pointerBefore(`/${name}/0/x`, narrowed!)).toBe(`/${name}/${at}/x`);
    }),
  );
});

test('of what is wrong beside the lists no entry is left', () => {
  const narrowed = narrowToFault({ n: 'one', a: [1, -1] }, isRight);
  expect(narrowed).toEqual({ body: { n: 'one', a: [] }, at: 0 });
  expect(pointerBefore('/n', narrowed!)).toBe('/n');
});

test.each([null, 'text', 7, [-1]])('%j has no lists to narrow', (body) => {
  expect(narrowToFault(body, () => false)).toBeUndefined();
});
