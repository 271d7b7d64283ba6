import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeInterval,
  computePValue,
  estimateDifference,
  estimateRate,
} from '../../../src/reports/statistics/difference.ts';
import { createDraws } from './draws.ts';

/** A number of people so large that the variance between them is negligible. */
const crowd = 1e15;

const days = fc
  .array(fc.record({ checks: fc.integer({ min: 1, max: 1e6 }), share: fc.double({ min: 0, max: 1, noNaN: true }) }), {
    minLength: 7,
    maxLength: 40,
  })
  .map((list) => list.map(({ checks, share }) => ({ checks, events: Math.round(checks * share) })));

describe('estimateDifference', () => {
  // Student's data of 1908 about sleep, and the result of R's paired t-test for it.
  const slept = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
  ].map((hours) => ({ days: hours.map((hour) => ({ events: hour + 50, checks: 100 })), users: crowd }));

  it('estimateDifference equals the paired t-test if all days have equal numbers of checks', () => {
    const difference = estimateDifference(slept[1]!, slept[0]!);
    expect(difference.value * 100).toBeCloseTo(1.58, 6);
    expect(difference.value / difference.standardError).toBeCloseTo(4.0621, 4);
    expect(difference.degreesOfFreedom).toBeCloseTo(9, 9);
    expect(computePValue(difference)).toBeCloseTo(0.002833, 6);
    const [low, high] = computeInterval(difference, 0.05);
    expect(low * 100).toBeCloseTo(0.7001142, 5);
    expect(high * 100).toBeCloseTo(2.4598858, 5);
  });

  it('estimateDifference returns 0 if both sides have equal rates on each day, even if the split changes', () => {
    // One side gets a growing part of the checks while rates rise, so its rate over all days is higher.
    const one = Array.from({ length: 7 }, (_, day) => ({ checks: 100 * 2 ** day, events: 5 * (day + 1) * 2 ** day }));
    const other = one.map(({ events, checks }) => ({ checks: 100, events: (events / checks) * 100 }));
    const sides = [one, other].map((days) => ({ days, users: crowd }));
    expect(estimateRate(sides[0]!).value - estimateRate(sides[1]!).value).toBeGreaterThan(0.09);
    expect(estimateDifference(sides[0]!, sides[1]!).value).toBeCloseTo(0, 12);
  });

  it('estimateDifference changes its sign if the sides are swapped', () => {
    fc.assert(
      fc.property(days, days, (a, b) => {
        const length = Math.min(a.length, b.length);
        const [one, other] = [a, b].map((list) => ({ days: list.slice(0, length), users: 500 }));
        const there = estimateDifference(one!, other!);
        const back = estimateDifference(other!, one!);
        expect(back.value).toBeCloseTo(-there.value, 9);
        expect(back.standardError).toBeCloseTo(there.standardError, 9);
        expect(computePValue(back)).toBeCloseTo(computePValue(there), 9);
      }),
    );
  });

  it('estimateDifference has a larger standard error for fewer people', () => {
    const at = (users: number) => estimateDifference({ ...slept[1]!, users }, { ...slept[0]!, users }).standardError;
    expect(at(100)).toBeGreaterThan(at(1000));
    expect(at(1000)).toBeGreaterThan(at(crowd));
  });

  it('estimateDifference returns 0 for two sides whose rates are exactly 1', () => {
    const always = { days: Array.from({ length: 7 }, () => ({ events: 5, checks: 5 })), users: 100 };
    expect(computePValue(estimateDifference(always, always))).toBe(1);
  });

  it.each([7, 14, 28])('estimateDifference rarely finds a difference over %i days if only the days differ', (count) => {
    const draws = createDraws(22);
    const side = () => ({
      users: crowd,
      days: Array.from({ length: count }, () => {
        const checks = Math.round(10_000 * Math.exp(draws.normal()));
        return { checks, events: Math.round(checks * 0.2 * Math.exp(0.1 * draws.normal())) };
      }),
    });
    const pValues = Array.from({ length: 2000 }, () => computePValue(estimateDifference(side(), side())));
    const wrong = pValues.filter((p) => p < 0.05).length / pValues.length;
    expect(wrong).toBeLessThanOrEqual(0.065);
    expect(wrong).toBeGreaterThan(0.02);
  });
});

it('estimateRate returns the variance between people if all days are equal', () => {
  const alike = Array.from({ length: 10 }, () => ({ events: 20, checks: 100 }));
  const { value, standardError } = estimateRate({ days: alike, users: 200 });
  expect(value).toBeCloseTo(0.2, 12);
  expect(standardError).toBeCloseTo(Math.sqrt((0.2 * 0.8) / 100), 12);
});
