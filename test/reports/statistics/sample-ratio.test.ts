import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { upperTail } from '../../../src/reports/statistics/distributions.ts';
import { sampleRatioP } from '../../../src/reports/statistics/split.ts';
import { createDraws } from './draws.ts';

const share = fc.record({ users: fc.integer({ min: 1, max: 10_000 }), weight: fc.integer({ min: 1, max: 9 }) });

describe('sampleRatioP', () => {
  it("sampleRatioP equals Pearson's test for exact counts", () => {
    fc.assert(
      fc.property(fc.array(share, { minLength: 2, maxLength: 6 }), (shares) => {
        const all = shares.reduce((sum, { users }) => sum + users, 0);
        const weights = shares.reduce((sum, { weight }) => sum + weight, 0);
        const statistic = shares.reduce((sum, { users, weight }) => {
          const expected = (all * weight) / weights;
          return sum + (users - expected) ** 2 / expected;
        }, 0);
        expect(sampleRatioP(shares, 0)).toBeCloseTo(upperTail(statistic, shares.length - 1), 9);
      }),
    );
  });

  it.each([
    ['equal halves', 5000, 5000, false],
    ['a little more on one side', 5100, 4900, false],
    ['much more on one side', 5400, 4600, true],
    ['a deviation that the error of the sketches explains', 504_000, 496_000, false],
    ['a deviation that the error of the sketches does not explain', 520_000, 480_000, true],
  ])('sampleRatioP finds a mismatch for %s: $3', (_, one, other, mismatch) => {
    const shares = [one, other].map((users) => ({ users, weight: 1 }));
    expect(sampleRatioP(shares, 0.006) < 0.001).toBe(mismatch);
  });

  it.each([10_000, 1_000_000])(
    'sampleRatioP almost never finds a mismatch if %i people are assigned according to the weights',
    (people) => {
      const draws = createDraws(3);
      const sketched = (users: number) => Math.round(users * (1 + 0.00575 * draws.normal()));
      const judge = () => {
        const first = draws.binomial(people, 0.25);
        const second = draws.binomial(people - first, 1 / 3);
        const [a, b, c] = [first, second, people - first - second].map(sketched);
        return sampleRatioP(
          [
            { users: a!, weight: 1 },
            { users: b!, weight: 1 },
            { users: c!, weight: 2 },
          ],
          0.006,
        );
      };
      const wrong = Array.from({ length: 5000 }, judge).filter((p) => p < 0.001).length;
      expect(wrong).toBeLessThanOrEqual(12);
    },
  );
});
