import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alpha, compare } from '../../../src/reports/statistics/compare.ts';
import { boundary, sequentialInterval } from '../../../src/reports/statistics/sequential.ts';
import { createDraws, type Draws } from './draws.ts';
import { after, type Experiment, run } from './experiment.ts';

describe('boundary', () => {
  it('boundary equals the published formula, and is lowest near the planned end', () => {
    const r = 5.9915 + Math.log(6.9915);
    expect(boundary(0.05, 1)).toBeCloseTo(Math.sqrt((1 + 1 / r) * (Math.log(1 + r) + 5.9915)), 4);
    const values = [0.1, 0.25, 0.5, 1, 2, 4].map((progress) => boundary(0.05, progress));
    expect(Math.min(...values)).toBe(boundary(0.05, 1));
    expect(boundary(0.05, 1)).toBeGreaterThan(1.96);
  });

  it('boundary grows with the confidence, and the sequential interval contains the estimate', () => {
    const part = fc.double({ min: 0.01, max: 3, noNaN: true });
    const level = fc.double({ min: 0.001, max: 0.1, noNaN: true });
    fc.assert(
      fc.property(part, level, fc.double({ min: 1, max: 100, noNaN: true }), (progress, a, degreesOfFreedom) => {
        expect(boundary(a / 2, progress)).toBeGreaterThan(boundary(a, progress));
        const estimate = { value: 0.1, standardError: 0.02, degreesOfFreedom };
        const [low, high] = sequentialInterval(estimate, a, progress);
        expect(low).toBeLessThan(0.1);
        expect(high).toBeGreaterThan(0.1);
      }),
      { numRuns: 50 },
    );
  });

  it('a random walk that is checked after every step rarely exceeds boundary', () => {
    const draws = createDraws(7);
    const walks = 1000;
    const exceeded = Array.from({ length: walks }, () => isExceeded(draws, 200)).filter(Boolean).length;
    expect(exceeded / walks).toBeLessThanOrEqual(0.05);
    expect(exceeded / walks).toBeGreaterThan(0.005);
  });
});

function isExceeded(draws: Draws, steps: number): boolean {
  let sum = 0;
  for (let step = 1; step <= 2 * steps; step += 1) {
    sum += draws.normal();
    if (Math.abs(sum) > boundary(0.05, step / steps) * Math.sqrt(step)) return true;
  }
  return false;
}

/** People who return and have individual habits. The days have different rates. */
const usual: Experiment = {
  days: 21,
  people: [130, 130],
  rates: [0.2, 0.2],
  alike: 0.2,
  spread: 1,
  comes: 0.3,
  dayEffect: 0.3,
};
const planned = 14;

/**
 * Evaluates experiments on every day. Returns the share with an effect found on some day, and the share whose intervals
 * always contain the true effect.
 */
function looks(experiment: Experiment, count: number, seed: number) {
  const draws = createDraws(seed);
  const effect = experiment.rates[1]! - experiment.rates[0]!;
  const results = Array.from({ length: count }, () => {
    const variants = run(experiment, draws);
    const intervals = Array.from({ length: experiment.days - 6 }, (_, index) => {
      const days = index + 7;
      const known = variants.map((each) => after(each, days));
      const intervalAt = (estimate: Parameters<typeof sequentialInterval>[0], level: number) =>
        sequentialInterval(estimate, level, days / planned);
      return compare(known, 'v0', intervalAt)[1]?.difference?.interval;
    }).filter((interval) => interval !== undefined);
    return {
      found: intervals.some(([low, high]) => low > 0 || high < 0),
      covered: intervals.every(([low, high]) => low <= effect && effect <= high),
    };
  });
  const share = (of: 'found' | 'covered') => results.filter((each) => each[of]).length / count;
  return { found: share('found'), covered: share('covered') };
}

describe('sequentialInterval in simulated experiments of three weeks', () => {
  it.each<[string, Experiment, number]>([
    ['people with habits who return', usual, 500],
    ['people who return every day', { ...usual, comes: 1, people: [120, 120] }, 200],
    ['people who come once', { ...usual, alike: 0, comes: 0.08, people: [300, 300] }, 200],
    ['very different days', { ...usual, dayEffect: 1 }, 200],
  ])('sequentialInterval, read every day, rarely finds an effect that does not exist: %s', (_, experiment, count) => {
    expect(looks(experiment, count, 30).found).toBeLessThanOrEqual(alpha);
  });

  it('sequentialInterval finds a large effect, and every interval contains its size', () => {
    const effect = { ...usual, alike: 0.1, dayEffect: 0.1, people: [1200, 1200], rates: [0.2, 0.35] };
    const { found, covered } = looks(effect, 40, 31);
    expect(found).toBeGreaterThanOrEqual(0.8);
    expect(covered).toBeGreaterThanOrEqual(0.95);
  });
});
