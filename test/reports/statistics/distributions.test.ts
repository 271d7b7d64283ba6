import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adjustByHolm } from '../../../src/reports/statistics/compare.ts';
import { criticalValue, twoSidedTail, upperTail } from '../../../src/reports/statistics/distributions.ts';

describe("Student's t distribution", () => {
  it.each([
    // Two-sided values from the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
    [1, 0.05, 12.706],
    [1, 0.01, 63.657],
    [2, 0.05, 4.303],
    [5, 0.1, 2.015],
    [5, 0.05, 2.571],
    [5, 0.002, 5.893],
    [10, 0.05, 2.228],
    [10, 0.01, 3.169],
    [13, 0.05, 2.16],
    [30, 0.05, 2.042],
    [30, 0.002, 3.385],
    [100, 0.05, 1.984],
    [100, 0.2, 1.29],
  ])('criticalValue for %i degrees of freedom at %f equals the printed table', (degreesOfFreedom, alpha, value) => {
    expect(Math.abs(criticalValue(alpha, degreesOfFreedom) - value)).toBeLessThan(0.0006);
  });

  it("Student's t distribution with one degree of freedom equals the Cauchy distribution, even in the tails", () => {
    for (const t of [0.001, 0.5, 1, 3, 1e3, 1e6])
      expect(twoSidedTail(t, 1)).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(t), 12);
  });

  it('criticalValue finds the critical value of a probability', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-12, max: 0.999, noNaN: true }),
        fc.double({ min: 1, max: 500, noNaN: true }),
        (alpha, degreesOfFreedom) => {
          const t = criticalValue(alpha, degreesOfFreedom);
          expect(twoSidedTail(t, degreesOfFreedom) / alpha).toBeCloseTo(1, 6);
        },
      ),
    );
  });
});

describe('the χ² distribution', () => {
  it.each([
    // Values from the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4.
    [1, 3.841, 0.05],
    [1, 10.828, 0.001],
    [2, 5.991, 0.05],
    [2, 13.816, 0.001],
    [10, 18.307, 0.05],
    [10, 29.588, 0.001],
    [63, 103.442, 0.001],
    [100, 124.342, 0.05],
  ])('the χ² distribution for %i degrees of freedom at %f equals the printed table', (degreesOfFreedom, x, p) => {
    expect(Math.abs(upperTail(x, degreesOfFreedom) / p - 1)).toBeLessThan(0.001);
  });

  it('the χ² distribution with two degrees of freedom equals the exponential distribution', () => {
    for (const x of [0, 0.1, 2, 3.9, 4.1, 50, 300]) expect(upperTail(x, 2) / Math.exp(-x / 2)).toBeCloseTo(1, 12);
  });
});

describe("Holm's method", () => {
  it("Holm's method adjusts the p-values of the published example", () => {
    const adjusted = adjustByHolm([0.01, 0.04, 0.03, 0.005]);
    for (const [index, p] of [0.03, 0.06, 0.06, 0.02].entries()) expect(adjusted[index]).toBeCloseTo(p, 12);
  });

  it('the Holm method keeps the order of p-values, lowers no p-value, and never exceeds the Bonferroni value', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (pValues) => {
        const adjusted = adjustByHolm(pValues);
        for (const [index, p] of pValues.entries()) {
          expect(adjusted[index]).toBeGreaterThanOrEqual(p);
          expect(adjusted[index]).toBeLessThanOrEqual(Math.min(1, p * pValues.length));
          for (const [other, q] of pValues.entries())
            if (p < q) expect(adjusted[index]).toBeLessThanOrEqual(adjusted[other]!);
        }
      }),
    );
  });
});
