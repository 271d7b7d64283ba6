import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Histogram } from '../../src/bench/load/histogram.ts';

describe('Histogram', () => {
  it('Histogram returns 0 for every quantile while it is empty', () => {
    expect(new Histogram().quantile(0.5)).toBe(0);
  });

  it('Histogram clamps values outside of its range', () => {
    const histogram = new Histogram();
    histogram.record(-1);
    histogram.record(1e12);
    expect(histogram.quantile(0.5)).toBe(0);
    expect(histogram.quantile(1)).toBeGreaterThan(2_000_000);
  });

  it('Histogram returns quantiles that differ by at most 0.8 % or 1 µs from the exact quantiles', () => {
    const durations = fc.array(fc.double({ min: 0, max: 100_000, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const histogram = new Histogram();
        for (const value of values) histogram.record(value);
        const exact = values.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(q * values.length)) - 1] ?? 0;
        expect(Math.abs(histogram.quantile(q) - exact)).toBeLessThanOrEqual(Math.max(exact * 0.008, 0.001));
      }),
    );
  });
});
