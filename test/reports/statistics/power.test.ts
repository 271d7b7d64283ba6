import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { daysUntil, detectable, type Traffic, usersIn } from '../../../src/reports/statistics/power.ts';

/** Returns traffic with so many checks that only the people matter. Each person counts as half an observation. */
const people = (each: number, rate: number): Traffic => ({
  rate,
  checks: 1e12,
  shares: [0.5, 0.5],
  users: [[1000, 4 * each]],
});

describe('the detectable difference', () => {
  // Sample sizes of two groups by the textbook formula with equal variances: 2 · (1.96 + 0.8416)² · p(1−p) / δ².
  it.each([
    [0.5, 0.05, 1570],
    [0.2, 0.02, 6280],
    [0.1, 0.01, 14128],
    [0.05, 0.005, 29827],
  ])('detectable equals the textbook formula: rate %f, effect %f, sample size %d', (rate, difference, each) => {
    expect(detectable(people(each, rate), 1000, 0.05)).toBeCloseTo(difference, 3);
  });

  it('the detectable difference falls with time and traffic, and grows with the number of comparisons', () => {
    const traffic = fc.record({
      rate: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      checks: fc.integer({ min: 100, max: 100_000 }),
      daily: fc.integer({ min: 50, max: 10_000 }),
      days: fc.integer({ min: 7, max: 100 }),
    });
    fc.assert(
      fc.property(traffic, ({ rate, checks, daily, days }) => {
        const of = (factor: number): Traffic => ({
          rate,
          checks: checks * factor,
          shares: [0.5, 0.5],
          users: [
            [1, daily * factor],
            [28, daily * factor * 5],
          ],
        });
        const now = detectable(of(1), days, 0.05);
        expect(detectable(of(1), days + 7, 0.05)).toBeLessThan(now);
        expect(detectable(of(4), days, 0.05)).toBeCloseTo(now / 2, 6);
        expect(detectable(of(1), days, 0.025)).toBeGreaterThan(now);
      }),
    );
  });

  it('daysUntil returns the days until a difference is detectable, or undefined if it never is detectable', () => {
    const traffic: Traffic = {
      rate: 0.2,
      checks: 5000,
      shares: [0.5, 0.5],
      users: [
        [1, 1000],
        [28, 9000],
      ],
    };
    const days = daysUntil(traffic, 0.03, 0.05)!;
    expect(detectable(traffic, days, 0.05)).toBeLessThanOrEqual(0.03);
    if (days > 7) expect(detectable(traffic, days - 1, 0.05)).toBeGreaterThan(0.03);
    const constant: Traffic = {
      ...traffic,
      users: [
        [1, 100],
        [28, 100],
      ],
    };
    expect(daysUntil(constant, 0.001, 0.05)).toBeUndefined();
  });
});

it('usersIn estimates users between and beyond the known numbers of days by a power law', () => {
  const known = [
    [1, 100],
    [4, 200],
    [16, 400],
  ] as const;
  expect(usersIn(known, 4)).toBe(200);
  expect(usersIn(known, 9)).toBeCloseTo(300, 6);
  expect(usersIn(known, 64)).toBeCloseTo(800, 6);
  expect(usersIn([[10, 100]], 20)).toBe(200);
  expect(usersIn([], 5)).toBe(0);
});
