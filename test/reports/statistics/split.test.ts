import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkChecks, checkUsers, type Side } from '../../../src/reports/statistics/split.ts';
import { sketchError } from '../../../src/storage/aggregate/hyperloglog.ts';

const sides = (...each: readonly (readonly [variant: string, users: number, weight: number])[]): Side[] =>
  each.map(([variant, users, weight]) => ({ variant, users, weight }));

describe('checkUsers', () => {
  it.each<[string, Side[], 'ok' | 'off' | 'unknown']>([
    ['a split as intended', sides(['on', 5020, 1], ['off', 4980, 1]), 'ok'],
    ['a split far from intended', sides(['on', 6000, 1], ['off', 4000, 1]), 'off'],
    ['a split of few users', sides(['on', 60, 1], ['off', 20, 1]), 'unknown'],
    ['a split with too few expected users of a variant', sides(['on', 2, 1], ['off', 300, 199]), 'unknown'],
    ['a split of many users, with a negligible deviation', sides(['on', 50_600_000, 1], ['off', 49_400_000, 1]), 'ok'],
    ['a split whose small variant has 1.5 times its share', sides(['on', 15_000, 1], ['off', 985_000, 99]), 'off'],
    ['a finished rollout with some users who have not reloaded', sides(['on', 9950, 1], ['off', 50, 0]), 'ok'],
    ['a finished rollout that does not reach everyone', sides(['on', 9000, 1], ['off', 1000, 0]), 'off'],
  ])('checkUsers returns the state $2 for %s', (_, given, state) => {
    expect(checkUsers(given, sketchError).state).toBe(state);
  });

  it('checkUsers finds a deviation in at most about 1 of 1000 correct splits, for any number of users', () => {
    let off = 0;
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 1_000_000 }), fc.double({ min: -2, max: 2, noNaN: true }), (users, z) => {
        const on = users / 2 + (z * Math.sqrt(users)) / 2;
        if (checkUsers(sides(['on', on, 1], ['off', users - on, 1]), sketchError).state === 'off') off += 1;
      }),
      { seed: 1 },
    );
    expect(off).toBe(0);
  });

  it('checkUsers returns intended and actual shares that add up to 1', () => {
    const count = fc.nat({ max: 10_000 });
    fc.assert(
      fc.property(fc.array(fc.tuple(count, count), { minLength: 1, maxLength: 6 }), (each) => {
        const given = each.map(([users, weight], index) => ({ variant: `v${index}`, users, weight: weight + 1 }));
        const { intended, actual } = checkUsers(given, 0);
        const total = (shares: Readonly<Record<string, number>>) => Object.values(shares).reduce((a, b) => a + b, 0);
        expect(total(intended)).toBeCloseTo(1);
        if (actual !== null) expect(total(actual)).toBeCloseTo(1);
      }),
    );
  });
});

it.each<[string, Side[], 'ok' | 'off' | 'unknown']>([
  ['that are too few', sides(['on', 900, 1], ['off', 50, 1]), 'unknown'],
  ['that deviate by less than five points', sides(['on', 54_000, 1], ['off', 46_000, 1]), 'ok'],
  ['that deviate by more', sides(['on', 56_000, 1], ['off', 44_000, 1]), 'off'],
])('checkChecks returns the state $2 for checks %s', (_, given, state) => {
  expect(checkChecks(given).state).toBe(state);
});
